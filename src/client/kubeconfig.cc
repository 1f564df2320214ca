// SPDX-License-Identifier: Apache-2.0
#include "src/client/kubeconfig.h"

#include <absl/strings/escaping.h>

#include <filesystem>
#include <system_error>

#include "src/base/file.h"
#include "src/base/suggestion.h"
#include "src/base/text.h"
#include "src/documents/parse.h"

namespace berth::client {
namespace {

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

// Reads the fields of one map of the file. The first problem is kept, with the field's path.
class Fields {
 public:
  Fields(const ConfigValue* value, std::string path, std::string file)
      : value_(value), path_(std::move(path)), file_(std::move(file)) {
    if (value_ != nullptr && value_->map() == nullptr) {
      Problem("", base::Concat("must be a map, not ", value_->TypeName()));
      value_ = nullptr;
    }
  }

  const ConfigValue* Find(std::string_view field) const {
    return value_ == nullptr ? nullptr : value_->Find(field);
  }

  std::string String(std::string_view field) {
    const ConfigValue* found = Find(field);
    if (found == nullptr) return {};
    if (found->string() == nullptr) {
      Problem(field, base::Concat("must be a string, not ", found->TypeName()));
      return {};
    }
    return *found->string();
  }

  bool Bool(std::string_view field) {
    const ConfigValue* found = Find(field);
    if (found == nullptr) return false;
    if (found->boolean() == nullptr) {
      Problem(field, base::Concat("must be true or false, not ", found->TypeName()));
      return false;
    }
    return *found->boolean();
  }

  // PEM text that the file holds as base64.
  std::string Pem(std::string_view field) {
    std::string decoded;
    const std::string text = String(field);
    if (text.empty()) return {};
    if (!absl::Base64Unescape(text, &decoded)) {
      Problem(field, "not base64");
    } else if (!base::Contains(decoded, "-----BEGIN")) {
      Problem(field, "holds no PEM block");
    }
    return decoded;
  }

  std::string Path(std::string_view field) { return Resolve(String(field)); }

  // An absolute path; relative ones start at the file's folder.
  std::string Resolve(const std::string& path) const {
    if (path.empty()) return {};
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(file_, ignored).parent_path();
    return (folder / path).lexically_normal().string();
  }

  std::vector<std::string> Strings(std::string_view field) {
    std::vector<std::string> out;
    for (const ConfigValue& element : List(field)) {
      if (element.string() == nullptr) {
        Problem(field, "must hold strings");
        break;
      }
      out.push_back(*element.string());
    }
    return out;
  }

  const ConfigValue::List& List(std::string_view field) {
    static const ConfigValue::List kNone;
    const ConfigValue* found = Find(field);
    if (found == nullptr) return kNone;
    if (found->list() == nullptr) {
      Problem(field, base::Concat("must be a list, not ", found->TypeName()));
      return kNone;
    }
    return *found->list();
  }

  Fields Nested(std::string_view field) const { return {Find(field), PathOf(field), file_}; }

  void Problem(std::string_view field, std::string_view text) {
    if (problem_) return;
    const std::string at = field.empty() ? path_ : PathOf(field);
    problem_ = Error{base::Concat(file_, ": ", at, at.empty() ? "" : ": ", text)};
  }
  // The first problem, of this map or of one that was merged into it.
  const std::optional<Error>& problem() const { return problem_; }
  void Merge(const Fields& nested) {
    if (!problem_) problem_ = nested.problem_;
  }
  const std::string& file() const { return file_; }
  std::string PathOf(std::string_view field) const {
    return path_.empty() ? std::string(field) : base::Concat(path_, ".", field);
  }

 private:
  const ConfigValue* value_;
  std::string path_;
  std::string file_;
  std::optional<Error> problem_;
};

// The entry of `list` ("clusters") that has this name, in the first file that has one; its content
// stands under `key`.
Result<Fields> FindNamed(std::vector<Fields>& roots, std::string_view list, std::string_view key,
                         std::string_view name, std::string_view referrer) {
  std::string files;
  base::Suggestion meant(name);
  for (Fields& root : roots) {
    for (const ConfigValue& entry : root.List(list)) {
      const ConfigValue* entry_name = entry.Find("name");
      if (entry_name == nullptr || entry_name->string() == nullptr) continue;
      if (*entry_name->string() != name) {
        meant.Try(*entry_name->string());
        continue;
      }
      return Fields(entry.Find(key), base::Concat(list, "[\"", name, "\"].", key), root.file());
    }
    if (root.problem()) return Fail(*root.problem());
    files += (files.empty() ? "" : ", ") + root.file();
  }
  return Fail(base::Concat(files, ": ", referrer, " names \"", name, "\", which ", list,
                           " does not hold", meant.ToString()));
}

void ReadCluster(Fields& fields, ClusterConfig& out) {
  out.server = fields.String("server");
  out.tls_server_name = fields.String("tls-server-name");
  out.insecure_skip_tls_verify = fields.Bool("insecure-skip-tls-verify");
  out.ca_data = fields.Pem("certificate-authority-data");
  if (out.ca_data.empty()) out.ca_file = fields.Path("certificate-authority");
  out.proxy_url = fields.String("proxy-url");
  out.disable_compression = fields.Bool("disable-compression");
  for (const ConfigValue& extension : fields.List("extensions")) {
    const ConfigValue* name = extension.Find("name");
    const ConfigValue* content = extension.Find("extension");
    if (name == nullptr || content == nullptr || name->string() == nullptr) continue;
    if (*name->string() == kExecExtension) out.exec_extension = *content;
  }
  if (out.insecure_skip_tls_verify && (!out.ca_data.empty() || !out.ca_file.empty())) {
    fields.Problem("insecure-skip-tls-verify",
                   "must not be set together with a certificate authority");
  }
  static constexpr std::string_view kProxySchemes[] = {"http://", "https://", "socks5://",
                                                       "socks5h://"};
  bool known = out.proxy_url.empty();
  for (const std::string_view scheme : kProxySchemes) {
    known = known || out.proxy_url.starts_with(scheme);
  }
  if (!known) fields.Problem("proxy-url", "must begin with http://, https:// or socks5://");
}

void ReadExec(Fields& fields, ExecConfig& out) {
  out.command = fields.String("command");
  if (base::Contains(out.command, "/")) out.command = fields.Resolve(out.command);
  out.args = fields.Strings("args");
  out.api_version = fields.String("apiVersion");
  out.install_hint = fields.String("installHint");
  out.interactive_mode = fields.String("interactiveMode");
  out.provide_cluster_info = fields.Bool("provideClusterInfo");
  for (const ConfigValue& entry : fields.List("env")) {
    Fields env(&entry, fields.PathOf("env[]"), fields.file());
    out.env.emplace_back(env.String("name"), env.String("value"));
    if (out.env.back().first.empty()) env.Problem("name", "must be given");
    fields.Merge(env);
  }
  const bool beta = out.api_version == "client.authentication.k8s.io/v1beta1";
  if (out.command.empty()) fields.Problem("command", "must be given");
  if (!beta && out.api_version != "client.authentication.k8s.io/v1") {
    fields.Problem("apiVersion", base::Concat("must be client.authentication.k8s.io/v1 or "
                                              "client.authentication.k8s.io/v1beta1, not \"",
                                              out.api_version, "\""));
  }
  if (beta && out.interactive_mode.empty()) out.interactive_mode = "IfAvailable";
  if (out.interactive_mode != "Never" && out.interactive_mode != "IfAvailable" &&
      out.interactive_mode != "Always") {
    fields.Problem("interactiveMode", "must be Never, IfAvailable or Always");
  }
}

void ReadImpersonation(Fields& fields, UserConfig& out) {
  out.impersonate_user = fields.String("as");
  out.impersonate_uid = fields.String("as-uid");
  out.impersonate_groups = fields.Strings("as-groups");
  Fields extra = fields.Nested("as-user-extra");
  const ConfigValue* map = fields.Find("as-user-extra");
  if (map != nullptr && map->map() != nullptr) {
    for (const auto& [key, values] : *map->map()) {
      out.impersonate_extra.emplace_back(key, extra.Strings(key));
    }
  }
  fields.Merge(extra);
  if (out.impersonate_user.empty() &&
      (!out.impersonate_uid.empty() || !out.impersonate_groups.empty() ||
       !out.impersonate_extra.empty())) {
    fields.Problem("as", "must be given where as-uid, as-groups or as-user-extra are");
  }
}

void ReadUser(Fields& fields, UserConfig& out) {
  out.client_certificate_data = fields.Pem("client-certificate-data");
  if (out.client_certificate_data.empty()) {
    out.client_certificate_file = fields.Path("client-certificate");
  }
  out.client_key_data = fields.Pem("client-key-data");
  if (out.client_key_data.empty()) out.client_key_file = fields.Path("client-key");
  out.token = fields.String("token");
  out.token_file = fields.Path("tokenFile");
  out.username = fields.String("username");
  out.password = fields.String("password");
  ReadImpersonation(fields, out);
  if (fields.Find("exec") != nullptr) {
    Fields exec = fields.Nested("exec");
    ReadExec(exec, out.exec.emplace());
    fields.Merge(exec);
  }
  const bool certificate =
      !out.client_certificate_data.empty() || !out.client_certificate_file.empty();
  const bool key = !out.client_key_data.empty() || !out.client_key_file.empty();
  const bool basic = !out.username.empty() || !out.password.empty();
  if (certificate && !key) fields.Problem("client-key", "must be given with a client certificate");
  if (key && !certificate) fields.Problem("client-certificate", "must be given with a client key");
  if (basic && !out.token.empty()) {
    fields.Problem("username", "must not be given together with a token");
  }
  if (fields.Find("auth-provider") != nullptr) {
    fields.Problem("auth-provider", "is no longer supported by Kubernetes; use exec");
  }
}

using Documents = std::vector<ConfigValue>;

// Errors: not YAML, nothing in it, or no map.
Result<Documents> ParseFile(std::string_view text, const std::string& file) {
  auto documents = documents::ParseYaml(text, file);
  if (!documents) return Fail(documents.error());
  if (documents->empty()) return Fail(file + ": the file is empty");
  return *std::move(documents);
}

// What the files say together; `roots` has one for each, in order.
Result<ServerConfig> Combine(std::vector<Fields> roots, const KubeconfigOptions& options) {
  for (const Fields& root : roots) {
    if (root.problem()) return Fail(*root.problem());
  }
  const bool by_flag = !options.context.empty();
  std::string context_name = options.context;
  for (Fields& root : roots) {
    if (context_name.empty()) context_name = root.String("current-context");
  }
  ServerConfig config;
  if (context_name.empty()) return Fail(roots.front().file() + ": current-context is not set");
  auto context = FindNamed(roots, "contexts", "context", context_name,
                           by_flag ? "the chosen context" : "current-context");
  if (!context) return Fail(context.error());
  config.default_namespace = context->String("namespace");

  auto cluster = FindNamed(roots, "clusters", "cluster", context->String("cluster"),
                           context->PathOf("cluster"));
  if (!cluster) return Fail(cluster.error());
  ReadCluster(*cluster, config.cluster);
  if (!options.master.empty()) config.cluster.server = options.master;
  if (config.cluster.server.empty()) cluster->Problem("server", "must be given");

  Fields user(nullptr, "", options.path);
  const std::string user_name = context->String("user");
  if (!user_name.empty()) {
    auto found = FindNamed(roots, "users", "user", user_name, context->PathOf("user"));
    if (!found) return Fail(found.error());
    user = std::move(*found);
    ReadUser(user, config.user);
  }
  for (const Fields& root : roots) {
    if (root.problem()) return Fail(*root.problem());
  }
  for (const Fields* part : std::initializer_list<const Fields*>{&*context, &*cluster, &user}) {
    if (part->problem()) return Fail(*part->problem());
  }
  return config;
}

}  // namespace

Result<ServerConfig> ParseKubeconfig(std::string_view text, const KubeconfigOptions& options) {
  const auto documents = ParseFile(text, options.path);
  if (!documents) return Fail(documents.error());
  return Combine({Fields(&documents->front(), "", options.path)}, options);
}

Result<ServerConfig> LoadKubeconfig(const KubeconfigOptions& options) {
  std::vector<std::string> files = {options.path};
  files.insert(files.end(), options.others.begin(), options.others.end());
  if (files.size() > 1) {
    std::erase_if(files, [](const std::string& file) {
      std::error_code ignored;
      return !std::filesystem::exists(file, ignored);
    });
    if (files.empty()) files = {options.path};
  }
  std::vector<Documents> read;  // what the roots point to
  read.reserve(files.size());
  std::vector<Fields> roots;
  for (const std::string& file : files) {
    auto text = base::ReadFile(file);
    if (!text) return Fail(text.error().Within("kubeconfig"));
    auto documents = ParseFile(*text, file);
    if (!documents) return Fail(documents.error());
    read.push_back(*std::move(documents));
    roots.emplace_back(&read.back().front(), "", file);
  }
  auto config = Combine(std::move(roots), options);
  if (!config) return config;
  // A missing file is better reported now than with the first request. The token's may come later.
  for (const std::string* path : {&config->cluster.ca_file, &config->user.client_certificate_file,
                                  &config->user.client_key_file}) {
    if (path->empty()) continue;
    if (auto content = base::ReadFile(*path); !content)
      return Fail(content.error().Within(options.path));
  }
  return config;
}

}  // namespace berth::client
