// SPDX-License-Identifier: Apache-2.0
#include "src/config/load.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "berth/field_errors.h"
#include "src/config/extension_points.h"
#include "src/config/schema.h"
#include "src/config/tables.h"
#include "src/documents/parse.h"

namespace berth::config {
namespace {

bool Names(const std::vector<PluginRef>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(),
                     [name](const PluginRef& plugin) { return plugin.name == name; });
}

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";

ConfigValue WithoutTypeMeta(const ConfigValue& args) {
  ConfigValue::Map fields;
  for (const auto& [key, value] : *args.map()) {
    if (key != "apiVersion" && key != "kind") fields.emplace_back(key, value);
  }
  return ConfigValue(std::move(fields), args.line());
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
                       FieldHint hint, std::vector<std::string>& unknown) {
  const ConfigValue* name = entry.Find("name");
  const ConfigValue* args = entry.Find("args");
  const Schema* schema = name == nullptr ? nullptr : ArgsSchema(*name->string());
  if (args == nullptr || schema == nullptr) return {};
  const std::string& plugin = *name->string();
  const std::string where = "decoding ." + path;
  if (auto kind = CheckArgsKind(*args, plugin); !kind) return Fail(kind.error().Within(where));
  const SchemaProblems problems = CheckAgainst(*schema, *args, order, hint);
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

// What a file holds, and how to look at it.
struct Document {
  ConfigValue value;
  MemberOrder order = MemberOrder::kByName;
  std::vector<std::string> repeated = {};  // of JSON: `duplicate field "a"`
};

// The types of all fields, and that they exist. Errors: the first of a wrong type, or else all that
// are there twice or unknown.
Result<void> CheckTypes(const Document& read, FieldHint hint) {
  const auto& [document, order, repeated] = read;
  SchemaProblems problems = CheckAgainst(ConfigurationSchema(), document, order, hint);
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
      auto args = CheckArgs(entries[j], path, order, hint, problems.unknown_fields);
      if (!args) return args;
    }
  }
  std::vector<std::string>& strict = problems.unknown_fields;
  strict.insert(strict.begin(), repeated.begin(), repeated.end());
  if (strict.empty()) return {};
  return Fail(std::string(kStrict) + absl::StrJoin(strict, ", "));
}

// Reads the fields of a KubeSchedulerConfiguration v1 whose apiVersion and kind were checked, and
// sets the defaults of scalar fields. Profiles hold what is written, nothing merged or defaulted;
// apiVersion and kind are taken out of args. Errors, in kube-scheduler's words: the first field of
// a wrong type, or else all that are there twice or unknown.
Result<SchedulerConfiguration> DecodeFields(const Document& read, FieldHint hint) {
  if (auto checked = CheckTypes(read, hint); !checked) return Fail(checked.error());
  const ConfigValue& document = read.value;
  FieldReader fields(document, "");
  SchedulerConfiguration config;
  ReadFields(fields, config);
  // All was checked before.
  if (auto error = fields.Finish()) return Fail(std::move(*error));

  const ConfigValue* contention = document.Find("enableContentionProfiling");
  if (contention == nullptr || contention->is_null()) {
    config.enable_contention_profiling = config.enable_profiling;
  }
  for (Profile& profile : config.profiles) {
    for (PluginConfig& of_plugin : profile.plugin_config) {
      if (ArgsSchema(of_plugin.name) == nullptr || of_plugin.args.is_null()) continue;
      of_plugin.args = WithoutTypeMeta(of_plugin.args);
    }
  }
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

// What to change in a file of an older version, beyond its apiVersion.
std::string MigrationHint(std::string_view version) {
  constexpr std::string_view kSelectorSpread =
      "replace the plugin SelectorSpread by PodTopologySpread";
  constexpr std::string_view kWeights =
      "; the default weights of InterPodAffinity and NodeAffinity rose to 2, that of "
      "TaintToleration to 3";
  constexpr std::string_view kBeforeBeta2 =
      "; replace the plugins NodeLabel by NodeAffinity, ServiceAffinity by InterPodAffinity, "
      "NodePreferAvoidPods by taints, and NodeResourcesLeastAllocated, NodeResourcesMostAllocated "
      "and RequestedToCapacityRatio by scoringStrategy of NodeResourcesFit; drop "
      "healthzBindAddress and metricsBindAddress";
  std::string hint(kSelectorSpread);
  if (version == "v1beta3") return hint;
  hint += kWeights;
  if (version != "v1beta2") hint += kBeforeBeta2;
  return hint;
}

std::optional<std::string> TypeProblem(const ConfigValue& document) {
  if (document.map() == nullptr) {
    return "must be a map with apiVersion and kind, not " + std::string(document.TypeName());
  }
  const auto text = [&](std::string_view key) {
    const ConfigValue* value = document.Find(key);
    return value != nullptr && value->string() != nullptr ? *value->string() : std::string();
  };
  const std::string kind = text("kind");
  const std::string api_version = text("apiVersion");
  if (kind.empty()) return "Object 'Kind' is missing: must be kind: " + std::string(kKind);
  if (api_version.empty()) {
    return "Object 'apiVersion' is missing: must be apiVersion: " + std::string(kApiVersion);
  }
  if (api_version == kApiVersion) {
    if (kind == kKind) return std::nullopt;
    return "couldn't decode as KubeSchedulerConfiguration, got " + api_version + ", Kind=" + kind;
  }
  std::string problem =
      "no kind " + Quoted(kind) + " is registered for version " + Quoted(api_version);
  constexpr std::string_view kGroupSlash = "kubescheduler.config.k8s.io/";
  const bool older = api_version.starts_with(std::string(kGroupSlash) + "v1beta") ||
                     api_version.starts_with(std::string(kGroupSlash) + "v1alpha");
  if (kind == kKind && older) {
    problem += ": set apiVersion: " + std::string(kApiVersion) + "; " +
               MigrationHint(std::string_view(api_version).substr(kGroupSlash.size()));
  } else {
    problem +=
        ": must be apiVersion: " + std::string(kApiVersion) + ", kind: " + std::string(kKind);
  }
  return problem;
}

std::set<std::string> EnabledPlugins(const Plugins& plugins) {
  std::set<std::string> names;
  for (const ExtensionPoint& point : kExtensionPoints) {
    for (const PluginRef& plugin : (plugins.*point.set).enabled) names.insert(plugin.name);
  }
  return names;
}

// Merges the default plugins and sets the defaults of args; enabled plugins that have a kind of
// args and got none get the defaults.
void SetProfileDefaults(Profile& profile, const KnownPlugins& known) {
  Plugins defaults;
  defaults.multi_point.enabled = known.defaults;
  profile.plugins = MergePlugins(defaults, profile.plugins);
  std::set<std::string> missing = EnabledPlugins(profile.plugins);
  for (const PluginConfig& entry : profile.plugin_config) missing.erase(entry.name);
  for (const std::string& name : missing) {
    if (known.args.contains(name)) profile.plugin_config.push_back({name, ConfigValue()});
  }
  for (PluginConfig& entry : profile.plugin_config) {
    const auto kind = known.args.find(entry.name);
    if (kind == known.args.end()) continue;
    if (entry.args.is_null()) entry.args = ConfigValue(ConfigValue::Map{});
    if (kind->second.with_defaults == nullptr) continue;
    entry.args = kind->second.with_defaults(entry.args, known.features);
  }
}

void SetDefaults(SchedulerConfiguration& config, const KnownPlugins& known) {
  for (Profile& profile : config.profiles) SetProfileDefaults(profile, known);
}

// A key that stands twice is found by the YAML reader, but is a matter of strictness.
std::string AsStrict(std::string message) {
  constexpr std::string_view kDuplicates = "yaml: unmarshal errors:";
  const size_t at = message.find(kDuplicates);
  if (at != std::string::npos) message.insert(at, "strict decoding error: ");
  return message;
}

bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

// Errors: bad syntax; in YAML a key that stands twice.
Result<Document> Parse(std::string_view text, std::string_view file_name) {
  if (IsJson(text)) {
    Document read{.value = {}, .order = MemberOrder::kAsWritten};
    auto value = documents::ParseJson(text, file_name, [&read](std::string_view key) {
      read.repeated.push_back("duplicate field " + Quoted(key));
    });
    if (!value) return Fail(value.error());
    read.value = *std::move(value);
    return read;
  }
  auto first = documents::ParseFirstYaml(text, file_name);
  if (!first) return Fail(AsStrict(first.error().message));
  return Document{.value = *std::move(first)};
}

constexpr std::string_view kFit = "NodeResourcesFit";
constexpr std::string_view kIgnoredResources = "ignoredResources";

bool Enables(const Plugins& plugins, std::string_view plugin) {
  return std::any_of(
      std::begin(kExtensionPoints), std::end(kExtensionPoints),
      [&](const ExtensionPoint& point) { return Names((plugins.*point.set).enabled, plugin); });
}

ConfigValue With(const ConfigValue& args, ConfigValue ignored) {
  ConfigValue::Map fields;
  if (args.map() != nullptr) fields = *args.map();
  std::erase_if(fields, [](const auto& field) { return field.first == kIgnoredResources; });
  fields.emplace_back(kIgnoredResources, std::move(ignored));
  return ConfigValue(std::move(fields), args.line());
}

}  // namespace

PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  for (const std::vector<PluginRef>* list : {&custom.disabled, &defaults.disabled}) {
    for (const PluginRef& plugin : *list) merged.disabled.push_back({plugin.name, 0});
  }

  // Of a repeated custom plugin the last entry replaces the default; the others are appended.
  std::vector<bool> replaced(custom.enabled.size(), false);
  if (!Names(merged.disabled, "*")) {
    for (const PluginRef& plugin : defaults.enabled) {
      if (Names(merged.disabled, plugin.name)) continue;
      const auto last =
          std::find_if(custom.enabled.rbegin(), custom.enabled.rend(),
                       [&](const PluginRef& entry) { return entry.name == plugin.name; });
      if (last == custom.enabled.rend()) {
        merged.enabled.push_back(plugin);
        continue;
      }
      merged.enabled.push_back(*last);
      replaced[static_cast<size_t>(custom.enabled.rend() - last) - 1] = true;
    }
  }
  for (size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!replaced[i]) merged.enabled.push_back(custom.enabled[i]);
  }
  return merged;
}

Plugins MergePlugins(const Plugins& defaults, const Plugins& custom) {
  Plugins merged;
  for (const ExtensionPoint& point : kExtensionPoints) {
    merged.*point.set = MergePluginSet(defaults.*point.set, custom.*point.set);
  }
  return merged;
}

SchedulerConfiguration DefaultConfiguration(const KnownPlugins& known) {
  SchedulerConfiguration config;
  config.profiles.emplace_back().scheduler_name = "default-scheduler";
  SetDefaults(config, known);
  return config;
}

Result<SchedulerConfiguration> Decode(std::string_view text, std::string_view file_name,
                                      const KnownPlugins& known) {
  const auto read = Parse(text, file_name);
  if (!read) return Fail(read.error());
  if (const auto problem = TypeProblem(read->value)) return Fail(Error{*problem}.Within(file_name));
  auto config = DecodeFields(*read, known.hint);
  if (!config) return Fail(config.error().Within(file_name));
  SetDefaults(*config, known);
  return config;
}

Result<SchedulerConfiguration> Load(std::string_view text, std::string_view file_name,
                                    const KnownPlugins& known) {
  auto config = Decode(text, file_name, known);
  if (!config) return config;
  if (auto problem = Validate(*config, known)) return Fail(problem->Within(file_name));
  return config;
}

Result<void> LeaveManagedResources(SchedulerConfiguration& configuration) {
  ConfigValue::List names;
  for (const Extender& extender : configuration.extenders) {
    for (const ExtenderManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) names.emplace_back(resource.name);
    }
  }
  if (names.empty()) return {};
  for (Profile& profile : configuration.profiles) {
    auto& configs = profile.plugin_config;
    auto fit = std::find_if(configs.begin(), configs.end(),
                            [](const PluginConfig& config) { return config.name == kFit; });
    if (fit == configs.end()) {
      if (!Enables(profile.plugins, kFit)) {
        return Fail("can't find NodeResourcesFitArgs in plugin config");
      }
      fit = configs.insert(configs.end(), {std::string(kFit), ConfigValue()});
    }
    fit->args = With(fit->args, ConfigValue(names));
  }
  return {};
}

}  // namespace berth::config
