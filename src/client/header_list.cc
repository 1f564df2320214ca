// SPDX-License-Identifier: Apache-2.0
#include "src/client/header_list.h"

#include <absl/strings/ascii.h>
#include <curl/curl.h>

#include "berth/check.h"

namespace berth::client {

HeaderList::HeaderList(const std::vector<std::string>& lines) {
  curl_slist* list = nullptr;
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(list, line.c_str());
    BERTH_CHECK(longer != nullptr, "out of memory");
    list = longer;
    const size_t colon = line.find(':');
    const size_t value = line.find_first_not_of(' ', colon + 1);
    std::string name = line.substr(0, colon);
    absl::AsciiStrToLower(&name);
    if (value != std::string::npos && name != "host") {
      fields_.emplace_back(std::move(name), line.substr(value));
    }
  }
  list_ = list;
}

HeaderList::~HeaderList() { curl_slist_free_all(static_cast<curl_slist*>(list_)); }

}  // namespace berth::client
