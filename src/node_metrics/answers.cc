// SPDX-License-Identifier: Apache-2.0
#include "src/node_metrics/answers.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "berth/api/quantity.h"
#include "src/base/text.h"

namespace berth::node_metrics {
namespace {

namespace json = simdjson::ondemand;

// No name in Kubernetes is longer.
constexpr size_t kMostName = 253;

// Walks through one document and remembers where it was wrong, and how.
//
// Thread safety: one owner.
class JsonWalk {
 public:
  // `body` must outlive the walk. visit(value) is called with the document and returns whether all
  // in it was right.
  template <typename Visit>
  Result<void> Read(std::string& body, Visit visit) {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    json::parser parser;
    json::document document;
    json::value root;
    const simdjson::padded_string_view text(body.data(), body.size(), body.capacity());
    constexpr std::string_view kWanted = "this is no JSON object";
    if (Failed(parser.iterate(text).get(document), kWanted) ||
        Failed(document.get_value().get(root), kWanted) || !visit(root)) {
      return berth::Fail(where_.empty() ? what_ : base::Concat(where_, ": ", what_));
    }
    return {};
  }

  bool Wrong(std::string_view what) {
    what_ = what;
    return false;
  }

  // on(name, value) for each member of an object; null is none.
  template <typename On>
  bool Members(json::value value, On on) {
    json::object object;
    if (Failed(value.get_object().get(object), "expected an object")) return false;
    for (auto member : object) {
      std::string_view name;
      json::value held;
      if (Failed(member.unescaped_key().get(name)) || Failed(member.value().get(held))) {
        return false;
      }
      const std::string key(name);
      if (!on(std::string_view(key), held)) {
        where_ = where_.empty()          ? key
                 : where_.front() == '[' ? base::Concat(key, where_)
                                         : base::Concat(key, ".", where_);
        return false;
      }
    }
    return true;
  }

  // on(index, value) for each element of a list.
  template <typename On>
  bool Elements(json::value value, On on) {
    json::array list;
    if (Failed(value.get_array().get(list), "expected a list")) return false;
    size_t index = 0;
    for (auto element : list) {
      json::value held;
      if (Failed(element.get(held))) return false;
      if (!on(index, held)) {
        const bool nested = !where_.empty() && where_.front() != '[';
        where_ = base::Concat("[", index, "]", nested ? "." : "", where_);
        return false;
      }
      ++index;
    }
    return true;
  }

  bool Text(json::value value, std::string& out) {
    std::string_view text;
    if (Failed(value.get_string().get(text), "expected a string")) return false;
    out = text;
    return true;
  }
  bool Number(json::value value, double& out) {
    return !Failed(value.get_double().get(out), "expected a number");
  }
  bool Whole(json::value value, int64_t& out) {
    return !Failed(value.get_int64().get(out), "expected a whole number");
  }

 private:
  bool Failed(simdjson::error_code error, std::string_view wanted = "expected another value") {
    if (error == simdjson::SUCCESS) return false;
    const bool mistyped =
        error == simdjson::INCORRECT_TYPE || error == simdjson::SCALAR_DOCUMENT_AS_VALUE;
    what_ = mistyped ? std::string(wanted)
                     : base::Concat("this is no JSON: ", simdjson::error_message(error));
    return true;
  }

  std::string where_;
  std::string what_;
};

// The entry of a node; nullptr: there are too many, or this is no name.
NodeMetrics* EntryOf(std::string_view name, NodesByName& nodes) {
  if (name.size() > kMostName) return nullptr;
  if (const auto known = nodes.find(name); known != nodes.end()) return &known->second;
  if (nodes.size() >= kMostNodes) return nullptr;
  NodeMetrics& node = nodes[name];
  node.name = name;
  return &node;
}

std::string TooMany() {
  return base::Concat("a name that is longer than any of a node, or more than ", kMostNodes,
                      " nodes");
}

MeasuredResource Newest(double amount) {
  return {.known = true, .average = amount, .deviation = 0, .last = amount};
}

bool ReadUsage(JsonWalk& walk, json::value value, NodeMetrics& node) {
  return walk.Members(value, [&](std::string_view name, json::value held) {
    if (name != "cpu" && name != "memory") return true;
    std::string text;
    if (!walk.Text(held, text)) return false;
    const auto amount = api::Quantity::Parse(text);
    if (!amount) return walk.Wrong("expected a quantity");
    if (name == "cpu") {
      node.cpu = Newest(static_cast<double>(amount->MilliValue()));
    } else {
      node.memory = Newest(static_cast<double>(amount->Value()));
    }
    return true;
  });
}

bool ReadName(JsonWalk& walk, json::value metadata, std::string& out) {
  return walk.Members(metadata, [&](std::string_view name, json::value held) {
    return name != "name" || walk.Text(held, out);
  });
}

bool ReadNodeOfMetricsServer(JsonWalk& walk, json::value item, NodesByName& nodes) {
  NodeMetrics node;
  const bool read = walk.Members(item, [&](std::string_view name, json::value held) {
    if (name == "metadata") return ReadName(walk, held, node.name);
    return name != "usage" || ReadUsage(walk, held, node);
  });
  if (!read) return false;
  if (node.name.empty()) return walk.Wrong("there is no metadata.name");
  NodeMetrics* entry = EntryOf(node.name, nodes);
  if (entry == nullptr) return walk.Wrong(TooMany());
  *entry = std::move(node);
  return true;
}

// Prometheus writes numbers as strings.
std::optional<double> NumberIn(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool ReadSample(JsonWalk& walk, json::value sample, const PrometheusQuery& query,
                NodesByName& nodes) {
  std::string instance;
  std::optional<double> number;
  const bool read = walk.Members(sample, [&](std::string_view name, json::value held) {
    if (name == "metric") {
      return walk.Members(held, [&](std::string_view label, json::value value) {
        return label != "instance" || walk.Text(value, instance);
      });
    }
    if (name != "value") return true;
    return walk.Elements(held, [&](size_t index, json::value part) {
      if (index != 1) return true;
      std::string text;
      if (!walk.Text(part, text)) return false;
      number = NumberIn(text);
      return number.has_value() || walk.Wrong("expected a number in a string");
    });
  });
  if (!read) return false;
  if (!number) return walk.Wrong("there is no value");
  if (instance.empty() || !std::isfinite(*number)) return true;
  NodeMetrics* node = EntryOf(instance, nodes);
  if (node == nullptr) return walk.Wrong(TooMany());
  MeasuredResource& resource = node->*query.resource;
  resource.known = true;
  if (query.is_deviation) {
    resource.deviation = *number * 100;
  } else {
    resource.average = *number * 100;
    resource.last = resource.average;
  }
  return true;
}

// One resource of one node, as the values of a load-watcher come in.
struct Gathered {
  MeasuredResource resource;
  bool has_average = false;

  void Add(std::string_view op, double value) {
    resource.known = true;
    if (op == "AVG") {
      resource.average = value;
      has_average = true;
    } else if (op == "STD") {
      resource.deviation = value;
    } else if ((op.empty() || op == "Latest") && !has_average) {
      resource.average = value;
    }
    if (op == "AVG" || op == "Latest") resource.last = value;
  }
};

// What a load-watcher says of one node.
struct GatheredNode {
  Gathered cpu;
  Gathered memory;
  bool any = false;  // there are values, be it of other resources
};

bool ReadValues(JsonWalk& walk, json::value list, GatheredNode& node) {
  return walk.Elements(list, [&](size_t, json::value element) {
    node.any = true;
    std::string type;
    std::string op;
    double value = 0;
    const bool read = walk.Members(element, [&](std::string_view name, json::value held) {
      if (name == "type") return walk.Text(held, type);
      if (name == "operator") return walk.Text(held, op);
      return name != "value" || walk.Number(held, value);
    });
    if (!read) return false;
    if (type == "CPU") node.cpu.Add(op, value);
    if (type == "Memory") node.memory.Add(op, value);
    return true;
  });
}

bool ReadNodeMap(JsonWalk& walk, json::value map, NodesByName& nodes) {
  return walk.Members(map, [&](std::string_view name, json::value held) {
    GatheredNode gathered;
    const bool read = walk.Members(held, [&](std::string_view member, json::value value) {
      return member != "metrics" || ReadValues(walk, value, gathered);
    });
    if (!read) return false;
    if (!gathered.any) return true;
    NodeMetrics* node = EntryOf(name, nodes);
    if (node == nullptr) return walk.Wrong(TooMany());
    node->cpu = gathered.cpu.resource;
    node->memory = gathered.memory.resource;
    return true;
  });
}

}  // namespace

std::string PrometheusQuery::Parameter() const {
  return base::Escape(base::Concat(function, "(", series, "[15m])"));
}

Result<void> ReadMetricsServer(std::string& body, NodesByName& nodes) {
  JsonWalk walk;
  bool has_items = false;
  return walk.Read(body, [&](json::value root) {
    const bool read = walk.Members(root, [&](std::string_view name, json::value held) {
      if (name != "items") return true;
      has_items = true;
      return walk.Elements(held, [&](size_t, json::value item) {
        return ReadNodeOfMetricsServer(walk, item, nodes);
      });
    });
    return read && (has_items || walk.Wrong("there are no items"));
  });
}

Result<void> ReadPrometheus(std::string& body, const PrometheusQuery& query, NodesByName& nodes) {
  JsonWalk walk;
  bool has_result = false;
  return walk.Read(body, [&](json::value root) {
    const bool read = walk.Members(root, [&](std::string_view name, json::value held) {
      if (name != "data") return true;
      return walk.Members(held, [&](std::string_view member, json::value value) {
        if (member == "resultType") {
          std::string type;
          return walk.Text(value, type) && (type == "vector" || walk.Wrong("expected a vector"));
        }
        if (member != "result") return true;
        has_result = true;
        return walk.Elements(value, [&](size_t, json::value sample) {
          return ReadSample(walk, sample, query, nodes);
        });
      });
    });
    return read && (has_result || walk.Wrong("there is no data.result"));
  });
}

Result<void> ReadLoadWatcher(std::string& body, int64_t& window_end, NodesByName& nodes) {
  JsonWalk walk;
  bool has_end = false;
  bool has_map = false;
  return walk.Read(body, [&](json::value root) {
    const bool read = walk.Members(root, [&](std::string_view name, json::value held) {
      if (name == "window") {
        return walk.Members(held, [&](std::string_view member, json::value value) {
          if (member != "end") return true;
          has_end = true;
          return walk.Whole(value, window_end);
        });
      }
      if (name != "data") return true;
      return walk.Members(held, [&](std::string_view member, json::value value) {
        if (member != "NodeMetricsMap") return true;
        has_map = true;
        return ReadNodeMap(walk, value, nodes);
      });
    });
    if (!read) return false;
    if (!has_end) return walk.Wrong("there is no window.end");
    return has_map || walk.Wrong("there is no data.NodeMetricsMap");
  });
}

}  // namespace berth::node_metrics
