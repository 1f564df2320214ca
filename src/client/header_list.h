// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace berth::client {

// A list of headers in libcurl's form, shared by all requests that send the same.
class HeaderList {
 public:
  explicit HeaderList(const std::vector<std::string>& lines);
  ~HeaderList();
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;

  void* raw() const { return list_; }
  // The same for HTTP/2: names in lower case, without the lines that only keep libcurl from adding
  // a header, and without Host.
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  void* list_ = nullptr;  // curl_slist
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace berth::client
