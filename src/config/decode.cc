// SPDX-License-Identifier: Apache-2.0
#include "src/config/decode.h"

#include <absl/strings/str_join.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/field_errors.h"
#include "src/config/base64.h"
#include "src/config/extension_points.h"
#include "src/config/load.h"
#include "src/config/v1_schema.h"

namespace berth::config {
namespace {

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";

// Calls `read` with a reader of each element of a list and what it is to fill.
template <typename T, typename Read>
void ReadList(FieldReader& parent, std::string_view field, std::vector<T>& out, Read read) {
  const ConfigValue::List& values = parent.GetList(field);
  for (size_t i = 0; i < values.size(); ++i) {
    FieldReader fields(values[i], IndexedPath(parent.PathOf(field), i));
    read(fields, out.emplace_back());
    parent.Merge(fields);
  }
}

// Calls `read` with a reader of a nested map, if there is one.
template <typename Read>
void ReadMap(FieldReader& parent, std::string_view field, Read read) {
  const ConfigValue* value = parent.Get(field);
  if (value == nullptr) return;
  FieldReader fields(*value, parent.PathOf(field));
  read(fields);
  parent.Merge(fields);
}

// An empty text or a zero stands for the default, as where Kubernetes' own types cannot tell it
// from an absent field.
template <typename T>
void ReadUnlessZero(FieldReader& fields, std::string_view field, T& out) {
  T value{};
  if (fields.Read(field, value) && value != T{}) out = std::move(value);
}

void ReadLeaderElection(FieldReader& fields, LeaderElection& out) {
  fields.Read("leaderElect", out.leader_elect);
  ReadUnlessZero(fields, "leaseDuration", out.lease_duration);
  ReadUnlessZero(fields, "renewDeadline", out.renew_deadline);
  ReadUnlessZero(fields, "retryPeriod", out.retry_period);
  ReadUnlessZero(fields, "resourceLock", out.resource_lock);
  ReadUnlessZero(fields, "resourceName", out.resource_name);
  ReadUnlessZero(fields, "resourceNamespace", out.resource_namespace);
}

void ReadClientConnection(FieldReader& fields, ClientConnection& out) {
  fields.Read("kubeconfig", out.kubeconfig);
  fields.Read("acceptContentTypes", out.accept_content_types);
  ReadUnlessZero(fields, "contentType", out.content_type);
  double qps = out.qps;
  ReadUnlessZero(fields, "qps", qps);
  out.qps = static_cast<float>(qps);
  ReadUnlessZero(fields, "burst", out.burst);
}

void ReadPlugins(FieldReader& fields, Plugins& out) {
  const auto read_plugin = [](FieldReader& entry, PluginRef& plugin) {
    entry.Read("name", plugin.name);
    entry.Read("weight", plugin.weight);
  };
  for (const ExtensionPoint& point : kExtensionPoints) {
    PluginSet& set = out.*point.set;
    ReadMap(fields, point.field, [&](FieldReader& lists) {
      ReadList(lists, "enabled", set.enabled, read_plugin);
      ReadList(lists, "disabled", set.disabled, read_plugin);
    });
  }
}

ConfigValue WithoutTypeMeta(const ConfigValue& args) {
  ConfigValue::Map fields;
  for (const auto& [key, value] : *args.map()) {
    if (key != "apiVersion" && key != "kind") fields.emplace_back(key, value);
  }
  return ConfigValue(std::move(fields), args.line());
}

void ReadPluginConfig(FieldReader& fields, PluginConfig& out) {
  fields.Read("name", out.name);
  const ConfigValue* args = fields.Get("args");
  if (args == nullptr) return;
  out.args = ArgsSchema(out.name) == nullptr ? *args : WithoutTypeMeta(*args);
}

void ReadProfile(FieldReader& fields, Profile& out) {
  fields.Read("schedulerName", out.scheduler_name);
  int32_t percentage = 0;
  if (fields.Read("percentageOfNodesToScore", percentage)) {
    out.percentage_of_nodes_to_score = percentage;
  }
  ReadMap(fields, "plugins", [&](FieldReader& plugins) { ReadPlugins(plugins, out.plugins); });
  ReadList(fields, "pluginConfig", out.plugin_config, ReadPluginConfig);
}

void ReadData(FieldReader& fields, std::string_view field, std::string& out) {
  std::string text;
  fields.Read(field, text);
  if (auto data = DecodeBase64(text)) out = std::move(*data);
}

constexpr Duration kDefaultExtenderTimeout = std::chrono::seconds(5);

void ReadExtender(FieldReader& fields, Extender& out) {
  fields.Read("urlPrefix", out.url_prefix);
  fields.Read("filterVerb", out.filter_verb);
  fields.Read("preemptVerb", out.preempt_verb);
  fields.Read("prioritizeVerb", out.prioritize_verb);
  fields.Read("weight", out.weight);
  fields.Read("bindVerb", out.bind_verb);
  fields.Read("enableHTTPS", out.enable_https);
  ReadMap(fields, "tlsConfig", [&out](FieldReader& nested) {
    ExtenderTlsConfig& tls = out.tls_config.emplace();
    nested.Read("insecure", tls.insecure);
    nested.Read("serverName", tls.server_name);
    nested.Read("certFile", tls.cert_file);
    nested.Read("keyFile", tls.key_file);
    nested.Read("caFile", tls.ca_file);
    ReadData(nested, "certData", tls.cert_data);
    ReadData(nested, "keyData", tls.key_data);
    ReadData(nested, "caData", tls.ca_data);
  });
  out.http_timeout = kDefaultExtenderTimeout;
  ReadUnlessZero(fields, "httpTimeout", out.http_timeout);
  fields.Read("nodeCacheCapable", out.node_cache_capable);
  ReadList(fields, "managedResources", out.managed_resources,
           [](FieldReader& entry, ExtenderManagedResource& resource) {
             entry.Read("name", resource.name);
             entry.Read("ignoredByScheduler", resource.ignored_by_scheduler);
           });
  fields.Read("ignorable", out.ignorable);
}

// The apiVersion or kind of args, with the default where it is not there. Errors: it is no string.
Result<std::string> TypeMetaOf(const ConfigValue& args, std::string_view field,
                               std::string_view fallback) {
  const ConfigValue* value = args.Find(field);
  if (value == nullptr) return std::string(fallback);
  if (value->string() != nullptr) {
    return value->string()->empty() ? std::string(fallback) : *value->string();
  }
  const auto problems = CheckAgainst({SchemaKind::kString, "string"}, *value, MemberOrder::kByName);
  return Fail("couldn't get version/kind; json parse error: " + *problems.mistyped);
}

// Errors: args of another kind than the plugin's, or that are no map.
Result<void> CheckArgsKind(const ConfigValue& args, const std::string& plugin) {
  const std::string while_decoding = "decoding args for plugin " + plugin;
  if (args.map() == nullptr) {
    return Fail(Error{"must be a map, not " + std::string(args.TypeName())}.Within(while_decoding));
  }
  const std::string wanted = plugin + "Args";
  const auto api_version = TypeMetaOf(args, "apiVersion", kApiVersion);
  const auto kind = TypeMetaOf(args, "kind", wanted);
  for (const auto* text : {&api_version, &kind}) {
    if (!*text) return Fail(text->error().Within(while_decoding));
  }
  const bool is_args = kind->ends_with("Args") &&
                       ArgsSchema(std::string_view(*kind).substr(0, kind->size() - 4)) != nullptr;
  if (*api_version != kApiVersion || (!is_args && *kind != kKind)) {
    return Fail(
        Error{"no kind " + Quoted(*kind) + " is registered for version " + Quoted(*api_version)}
            .Within(while_decoding));
  }
  if (*kind == wanted) return {};
  const std::string group(kGroup);
  return Fail("args for plugin " + plugin + " were not of type " + wanted + "." + group + ", got " +
              *kind + "." + group);
}

constexpr std::string_view kStrict = "strict decoding error: ";

// Checks one entry of a pluginConfig; unknown fields in its args are added to `unknown`.
Result<void> CheckArgs(const ConfigValue& entry, const std::string& path, MemberOrder order,
                       std::vector<std::string>& unknown) {
  const ConfigValue* name = entry.Find("name");
  const ConfigValue* args = entry.Find("args");
  const Schema* schema = name == nullptr ? nullptr : ArgsSchema(*name->string());
  if (args == nullptr || schema == nullptr) return {};
  const std::string& plugin = *name->string();
  const std::string where = "decoding ." + path;
  if (auto kind = CheckArgsKind(*args, plugin); !kind) return Fail(kind.error().Within(where));
  const SchemaProblems problems = CheckAgainst(*schema, *args, order);
  const std::string while_decoding = "decoding args for plugin " + plugin;
  if (problems.mistyped) {
    return Fail(Error{*problems.mistyped}.Within(while_decoding).Within(where));
  }
  if (!problems.unknown_fields.empty()) {
    // kube-scheduler says it at each level.
    unknown.push_back(where + ": " + std::string(kStrict) + while_decoding + ": " +
                      std::string(kStrict) + absl::StrJoin(problems.unknown_fields, ", "));
  }
  return {};
}

// The types of all fields, and that they exist. Errors: the first of a wrong type, or else all that
// are unknown.
Result<void> CheckTypes(const ConfigValue& document, MemberOrder order) {
  SchemaProblems problems = CheckAgainst(ConfigurationSchema(), document, order);
  if (problems.mistyped) return Fail(*problems.mistyped);
  const auto list_at = [](const ConfigValue& value, std::string_view field) {
    const ConfigValue* list = value.Find(field);
    return list == nullptr ? ConfigValue::List() : *list->list();
  };
  const ConfigValue::List profiles = list_at(document, "profiles");
  for (size_t i = 0; i < profiles.size(); ++i) {
    const ConfigValue::List entries = list_at(profiles[i], "pluginConfig");
    for (size_t j = 0; j < entries.size(); ++j) {
      const std::string path = IndexedPath(IndexedPath("profiles", i) + ".pluginConfig", j);
      if (auto args = CheckArgs(entries[j], path, order, problems.unknown_fields); !args) {
        return args;
      }
    }
  }
  if (problems.unknown_fields.empty()) return {};
  return Fail(std::string(kStrict) + absl::StrJoin(problems.unknown_fields, ", "));
}

}  // namespace

Result<SchedulerConfiguration> DecodeFields(const ConfigValue& document, MemberOrder order) {
  if (auto checked = CheckTypes(document, order); !checked) return Fail(checked.error());
  FieldReader fields(document, "");
  SchedulerConfiguration config;
  fields.Get("apiVersion");
  fields.Get("kind");
  fields.Read("parallelism", config.parallelism);
  ReadMap(fields, "leaderElection",
          [&](FieldReader& nested) { ReadLeaderElection(nested, config.leader_election); });
  ReadMap(fields, "clientConnection",
          [&](FieldReader& nested) { ReadClientConnection(nested, config.client_connection); });
  fields.Read("enableProfiling", config.enable_profiling);
  config.enable_contention_profiling = config.enable_profiling;
  fields.Read("enableContentionProfiling", config.enable_contention_profiling);
  fields.Read("percentageOfNodesToScore", config.percentage_of_nodes_to_score);
  fields.Read("podInitialBackoffSeconds", config.pod_initial_backoff_seconds);
  fields.Read("podMaxBackoffSeconds", config.pod_max_backoff_seconds);
  ReadList(fields, "profiles", config.profiles, ReadProfile);
  ReadList(fields, "extenders", config.extenders, ReadExtender);
  fields.Read("delayCacheUntilActive", config.delay_cache_until_active);
  // All was checked before.
  if (auto error = fields.Finish()) return Fail(std::move(*error));

  // Only a single profile may leave its name out.
  if (config.profiles.empty()) config.profiles.emplace_back();
  const ConfigValue::List* profiles = nullptr;
  if (const ConfigValue* value = document.Find("profiles")) profiles = value->list();
  const bool named = profiles != nullptr && !profiles->empty() &&
                     profiles->front().Find("schedulerName") != nullptr;
  if (config.profiles.size() == 1 && !named) {
    config.profiles.front().scheduler_name = "default-scheduler";
  }
  return config;
}

}  // namespace berth::config
