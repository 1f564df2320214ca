// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "src/cel/environment.h"
#include "src/cel/net.h"

namespace berth::cel {
namespace {

class UrlValue : public Extension {
 public:
  explicit UrlValue(Url made) : url(std::move(made)) {}
  std::string_view type_name() const override { return "kubernetes.URL"; }
  Value Equal(const Value& other) const override {
    const auto* const that = As<UrlValue>(other);
    return that == nullptr ? OrNoSuchOverload(other) : Value::Bool(that->url == url);
  }
  const Url url;
};

const Url& Self(std::span<const Value> args) { return As<UrlValue>(args[0])->url; }

Value ToUrl(Budget&, std::span<Value> args) {
  Result<Url> url = ParseUrl(args[0].text());
  if (!url)
    return Value::Error("URL parse error during conversion from string: " + url.error().message);
  return Value::Of(std::shared_ptr<const Extension>(std::make_shared<UrlValue>(*std::move(url))));
}

Value IsUrl(Budget&, std::span<Value> args) {
  return Value::Bool(CheckRequestUri(args[0].text()).has_value());
}

Value Scheme(Budget&, std::span<Value> args) { return Value::String(Self(args).scheme); }
Value Host(Budget&, std::span<Value> args) { return Value::String(Self(args).host); }
Value Hostname(Budget&, std::span<Value> args) { return Value::String(HostnameOf(Self(args))); }
Value Port(Budget&, std::span<Value> args) { return Value::String(PortOf(Self(args))); }
Value Path(Budget&, std::span<Value> args) { return Value::String(Self(args).escaped_path); }

Value Query(Budget& budget, std::span<Value> args) {
  auto query = std::make_shared<Map>();
  for (const auto& [key, value] : QueryOf(Self(args))) {
    budget.Allocate(key.size() + value.size() + 2 * sizeof(Value));
    const Value name = Value::String(key);
    std::vector<Value> values;
    if (const Value* const known = query->Find(name)) values = known->list().items;
    values.push_back(Value::String(value));
    query->Put(name, Value::ListOf(std::move(values)));
  }
  return Value::Of(std::shared_ptr<const Map>(std::move(query)));
}

}  // namespace

void AddUrls(Environment& environment) {
#define URL "kubernetes.URL"
  static constexpr FunctionRow kRows[] = {
      {"url", "string_to_url", "(string) " URL, ToUrl, Cost::kFirst},
      {"getScheme", "url_get_scheme", URL ".() string", Scheme},
      {"getHost", "url_get_host", URL ".() string", Host},
      {"getHostname", "url_get_hostname", URL ".() string", Hostname},
      {"getPort", "url_get_port", URL ".() string", Port},
      {"getEscapedPath", "url_get_escaped_path", URL ".() string", Path},
      {"getQuery", "url_get_query", URL ".() map(string, list(string))", Query},
      {"isURL", "is_url_string", "(string) bool", IsUrl},
  };
#undef URL
  environment.Add(kRows);
}

}  // namespace berth::cel
