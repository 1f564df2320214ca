// SPDX-License-Identifier: Apache-2.0
#include "src/app/endpoints/zpages.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "src/app/version.h"
#include "src/documents/write.h"
#include "src/serving/accept.h"
#include "src/serving/http.h"
#include "src/serving/refusal.h"

namespace berth::app {
namespace {

using serving::MediaRange;
using serving::Request;
using serving::Response;
using Map = ConfigValue::Map;

constexpr std::string_view kComponent = "kube-scheduler";
constexpr std::string_view kGroup = "config.k8s.io";
constexpr std::string_view kBeta = "v1beta1";
constexpr std::string_view kAlpha = "v1alpha1";

enum class Form { kText, kJson, kYaml, kCbor };

struct MediaType {
  std::string_view type;
  std::string_view subtype;
  Form form;
};
// In the order in which a range that includes several is answered.
constexpr MediaType kMediaTypes[] = {
    {"application", "json", Form::kJson},
    {"application", "yaml", Form::kYaml},
    {"text", "plain", Form::kText},
    {"application", "cbor", Form::kCbor},
};

struct Answer {
  Form form = Form::kText;
  std::string_view version = kBeta;  // of the kind; of no use to text
  bool indented = false;             // JSON for people's eyes
};

// One of the two pages.
struct Page {
  std::string_view name;
  std::string_view kind;
  std::function<std::string()> text;
  std::function<Map()> fields;  // those beside kind, version and metadata
  bool cbor = false;
};

ConfigValue Text(std::string_view text) { return ConfigValue(std::string(text)); }

bool Offers(const Page& page, const MediaType& type) {
  return type.form != Form::kCbor || page.cbor;
}

// What the parameters of a range ask for in that form; nullopt: not to be had. As upstream,
// text names no kind, and all else must.
std::optional<Answer> AnswerIn(Form form, const MediaRange& range, const Page& page) {
  const auto parameter = [&range](const char* name) -> std::string_view {
    const auto found = range.parameters.find(name);
    return found == range.parameters.end() ? std::string_view() : found->second;
  };
  if (!parameter("stream").empty() || !parameter("sv").empty()) return std::nullopt;
  const std::string_view kind = parameter("as");
  const std::string_view group = parameter("g");
  const std::string_view version = parameter("v");
  if (form == Form::kText) {
    if (!kind.empty() || !group.empty() || !version.empty()) return std::nullopt;
    return Answer{};
  }
  if (kind != page.kind || group != kGroup) return std::nullopt;
  for (const std::string_view known : {kBeta, kAlpha}) {
    if (version == known) return Answer{form, known, parameter("pretty") == "1"};
  }
  return std::nullopt;
}

std::optional<Answer> Negotiate(const Request& request, const Page& page) {
  const std::string* accept = request.FindHeader("accept");
  if (accept == nullptr || accept->find_first_not_of(' ') == std::string::npos) return Answer{};
  for (const MediaRange& range : serving::ParseAccept(*accept)) {
    for (const MediaType& type : kMediaTypes) {
      if (!Offers(page, type) || !range.Includes(type.type, type.subtype)) continue;
      if (auto answer = AnswerIn(type.form, range, page)) return answer;
    }
  }
  return std::nullopt;
}

Response NotAcceptable(const Page& page, const Request& request) {
  std::string types;
  for (const MediaType& type : kMediaTypes) {
    if (!Offers(page, type)) continue;
    types += (types.empty() ? "" : ", ") + std::string(type.type) + "/" + std::string(type.subtype);
  }
  return serving::Refusal(request, 406, "NotAcceptable",
                          "only the following media types are accepted: " + types);
}

ConfigValue Document(const Page& page, std::string_view version) {
  Map document{{"kind", Text(page.kind)},
               {"apiVersion", Text(std::string(kGroup) + "/" + std::string(version))},
               {"metadata", ConfigValue(Map{{"name", Text(kComponent)}})}};
  for (auto& field : page.fields()) document.push_back(std::move(field));
  return ConfigValue(std::move(document));
}

Response Serve(const Page& page, const Request& request) {
  const auto answer = Negotiate(request, page);
  if (!answer) return NotAcceptable(page, request);
  Response response;
  if (answer->form == Form::kText) {
    response.body = "\n" + std::string(kComponent) + " " + std::string(page.name) +
                    "\nWarning: This endpoint is not meant to be machine parseable, has no "
                    "formatting compatibility guarantees and is for debugging purposes only.\n" +
                    page.text();
    return response;
  }
  const ConfigValue document = Document(page, answer->version);
  const std::string kind = ";g=" + std::string(kGroup) + ";v=" + std::string(answer->version) +
                           ";as=" + std::string(page.kind);
  if (answer->form == Form::kJson) {
    response.content_type = "application/json" + kind;
    response.body = answer->indented || serving::AsksForIndented(request)
                        ? documents::ToIndentedJson(document)
                        : document.ToJson() + "\n";
  } else if (answer->form == Form::kYaml) {
    response.content_type = "application/yaml" + kind;
    response.body = documents::ToYaml(document);
  } else {
    response.content_type = "application/cbor" + kind;
    response.body = documents::ToCbor(document);
  }
  if (answer->version == kAlpha) {
    response.headers.emplace_back("Warning", "299 - \"This version of the " +
                                                 std::string(page.name) +
                                                 " endpoint is deprecated. Please use a newer "
                                                 "version.\"");
  }
  return response;
}

// A moment in UTC, by strftime's format.
std::string Formatted(Time time, const char* format) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::seconds>(time));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const size_t length = std::strftime(text.data(), text.size(), format, &parts);
  return {text.data(), length};
}

// "1 hr 02 min 03 sec".
std::string UpFor(int64_t seconds) {
  const auto two = [](int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return std::to_string(seconds / 3600) + " hr " + two(seconds / 60 % 60) + " min " +
         two(seconds % 60) + " sec";
}

// The first part of each path that /statusz names, sorted: not what serves debugging, nor what
// kube-scheduler does not have.
std::vector<std::string> ListedPaths(const serving::Router& router) {
  std::set<std::string> listed;
  for (const std::string& path : router.paths()) {
    std::string first = path.substr(0, path.find('/', 1));
    if (first != "/" && first != "/debug" && first != "/version") listed.insert(std::move(first));
  }
  return {listed.begin(), listed.end()};
}

std::string BinaryVersion() { return std::string(kKubernetesVersion.substr(1)); }
std::string EmulationVersion(const ZPages& pages) {
  return "1." + std::to_string(pages.emulated_minor);
}

Page StatuszPage(const std::shared_ptr<const ZPages>& pages,
                 const std::vector<std::string>& paths) {
  const auto up_seconds = [pages] {
    return std::max<int64_t>(
        0, std::chrono::duration_cast<std::chrono::seconds>(pages->clock.WallNow() - pages->started)
               .count());
  };
  Page page;
  page.name = "statusz";
  page.kind = "Statusz";
  page.text = [pages, paths, up_seconds] {
    std::string list;
    for (const std::string& path : paths) list += (list.empty() ? "" : " ") + path;
    return "\nStarted: " + Formatted(pages->started, "%a %b %e %H:%M:%S UTC %Y") +
           "\nUp: " + UpFor(up_seconds()) + "\nGo version: none, this is Berth " +
           std::string(kVersion) + "\nBinary version: " + BinaryVersion() +
           "\nEmulation version: " + EmulationVersion(*pages) + "\nPaths: " + list + "\n";
  };
  page.fields = [pages, paths, up_seconds] {
    ConfigValue::List list;
    for (const std::string& path : paths) list.push_back(Text(path));
    return Map{{"startTime", Text(Formatted(pages->started, "%Y-%m-%dT%H:%M:%SZ"))},
               {"uptimeSeconds", ConfigValue(up_seconds())},
               {"goVersion", Text("")},
               {"binaryVersion", Text(BinaryVersion())},
               {"emulationVersion", Text(EmulationVersion(*pages))},
               {"paths", ConfigValue(std::move(list))}};
  };
  page.cbor = pages->cbor;
  return page;
}

Page FlagzPage(const std::shared_ptr<const ZPages>& pages) {
  Page page;
  page.name = "flagz";
  page.kind = "Flagz";
  page.text = [pages] {
    std::string text;
    for (const auto& [name, value] : pages->flags) text.append(name + ": " + value + "\n");
    return text;
  };
  page.fields = [pages] {
    Map flags;
    for (const auto& [name, value] : pages->flags) flags.emplace_back(name, Text(value));
    return Map{{"flags", ConfigValue(std::move(flags))}};
  };
  page.cbor = pages->cbor;
  return page;
}

void Install(serving::Router& router, std::string path, Page page) {
  router.Answer(
      std::move(path),
      [page = std::move(page)](const Request& request) { return Serve(page, request); },
      serving::Router::Takes::kEachMethod);
}

}  // namespace

void InstallZPages(serving::Router& router, ZPages pages) {
  const auto shared = std::make_shared<const ZPages>(std::move(pages));
  if (shared->flagz) Install(router, "/flagz", FlagzPage(shared));
  if (shared->statusz) Install(router, "/statusz", StatuszPage(shared, ListedPaths(router)));
}

}  // namespace berth::app
