// SPDX-License-Identifier: Apache-2.0
#include "src/app/flags/log_flags.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

#include "berth/config_value.h"
#include "berth/field_errors.h"
#include "src/base/text.h"

namespace berth::app {
namespace {

// "cert,key" or "cert,key:name,name".
Result<SniCertificate> ReadSniCertificate(const std::string& text) {
  SniCertificate certificate;
  const size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const std::string names(base::Trim(std::string_view(text).substr(colon + 1)));
    if (names.empty()) return Fail("empty names list is not allowed");
    certificate.names = absl::StrSplit(names, ',');
    for (std::string& name : certificate.names) absl::StripAsciiWhitespace(&name);
  }
  const std::vector<std::string> files = absl::StrSplit(text.substr(0, colon), ',');
  if (files.size() != 2) return Fail("expected comma separated certificate and key file paths");
  certificate.cert_file = base::Trim(files[0]);
  certificate.key_file = base::Trim(files[1]);
  return certificate;
}

Result<void> ReadAddress(const std::string& text, std::string& out) {
  if (text.empty()) return {};
  std::string address(base::Trim(text));
  in6_addr parsed{};
  if (inet_pton(AF_INET6, address.c_str(), &parsed) == 1) {
    // As Go writes it; an IPv4 address in IPv6's form is one of IPv4.
    std::array<char, INET6_ADDRSTRLEN> shown{};
    const bool v4 = IN6_IS_ADDR_V4MAPPED(&parsed);
    inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? &parsed.s6_addr[12] : parsed.s6_addr, shown.data(),
              shown.size());
    address = shown.data();
  } else if (inet_pton(AF_INET, address.c_str(), &parsed) != 1) {
    return Fail("failed to parse IP: " + Quoted(text));
  }
  out = std::move(address);
  return {};
}

std::string ShowCurves(const std::vector<int32_t>& curves) {
  std::string list;
  for (const int32_t curve : curves) list += (list.empty() ? "" : ",") + std::to_string(curve);
  return "[" + list + "]";
}

std::string ShowSniCertificates(const std::vector<SniCertificate>& certificates) {
  std::string list;
  for (const SniCertificate& one : certificates) {
    list += (list.empty() ? "" : ";") + one.cert_file + "," + one.key_file;
    if (!one.names.empty()) list += ":" + absl::StrJoin(one.names, ",");
  }
  return "[" + list + "]";
}

Result<void> ReadCurves(const std::string& text, bool& given, std::vector<int32_t>& out) {
  std::vector<int32_t> curves;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const auto curve = ReadFlagValue<int32_t>(part);
    if (!curve) return Fail(curve.error());
    curves.push_back(*curve);
  }
  if (!given) out.clear();
  given = true;
  out.insert(out.end(), curves.begin(), curves.end());
  return {};
}

// "metric,label='a,b',metric2,label='c'": several where each is in CSV quotes.
Result<void> ReadLabelAllowLists(const std::string& text, std::map<std::string, std::string>& out) {
  const auto num_equals = std::count(text.begin(), text.end(), '=');
  if (num_equals == 0) return Fail(text + " must be formatted as key=value");
  // A single pair may hold commas, as "metric,label=a", with or without quotes around it.
  std::vector<std::string> pairs = {std::string(base::Trim(text, "\""))};
  if (num_equals > 1) {
    auto fields = ReadFlagValue<std::vector<std::string>>(text);
    if (!fields) return Fail(fields.error());
    pairs = std::move(*fields);
  }
  for (const std::string& pair : pairs) {
    const size_t at = pair.find('=');
    if (at == std::string::npos) return Fail(pair + " must be formatted as key=value");
    out[pair.substr(0, at)] = pair.substr(at + 1);
  }
  return {};
}

std::string ShowLabelAllowLists(const std::map<std::string, std::string>& lists) {
  std::vector<std::string> pairs;
  pairs.reserve(lists.size());
  for (const auto& [key, values] : lists) pairs.push_back(key + "=" + values);
  return WriteFlagValue(pairs);
}

// As Prometheus has it: a letter or '_', then digits, too; in a metric's name ':' is a letter.
bool IsName(std::string_view text, bool of_metric) {
  const auto is_letter = [of_metric](char c) {
    return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' ||
           (of_metric && c == ':');
  };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
}

constexpr std::string_view kMetricName = "[a-zA-Z_:][a-zA-Z0-9_:]*";

// The first problem of each flag, in kube-scheduler's order and words.
void CheckMetrics(const MetricsFlags& flags, std::vector<std::string>& problems) {
  const std::string& hidden = flags.show_hidden_metrics_for_version;
  if (!hidden.empty() && hidden != "1.36") {
    problems.push_back(InvalidField("metrics.showHiddenMetricsForVersion", Quoted(hidden),
                                    "must be omitted or have the value '1.36'; only the previous "
                                    "minor version is allowed"));
  }
  const auto wrong = std::ranges::find_if_not(
      flags.disabled_metrics, [](const std::string& name) { return IsName(name, true); });
  if (wrong != flags.disabled_metrics.end()) {
    ConfigValue::List names(flags.disabled_metrics.begin(), flags.disabled_metrics.end());
    problems.push_back(InvalidField("metrics.disabledMetrics",
                                    ConfigValue(std::move(names)).ToJson(),
                                    "must be fully qualified metric names matching \"^" +
                                        std::string(kMetricName) + "$\", got " + Quoted(*wrong)));
  }
  const auto is_key = [](const auto& entry) { return IsMetricAndLabel(entry.first); };
  if (!std::ranges::all_of(flags.allow_metric_labels, is_key)) {
    ConfigValue::Map lists;
    for (const auto& [key, values] : flags.allow_metric_labels) lists.emplace_back(key, values);
    problems.push_back(InvalidField(
        "metrics.allowListMapping", ConfigValue(std::move(lists)).ToJson(),
        "must have keys with format `metricName,labelName` where metricName matches \"" +
            std::string(kMetricName) + "\" and labelName matches \"[a-zA-Z_][a-zA-Z0-9_]*\""));
  }
}

bool HasHeader(const std::vector<std::string>& headers, const std::string& wanted) {
  return std::any_of(headers.begin(), headers.end(), [wanted](const std::string& header) {
    return absl::EqualsIgnoreCase(header, wanted);
  });
}

// As Go's ParseUint with 31 bits.
Result<int> ReadLevel(const std::string& text) {
  const auto level = ReadFlagValue<uint64_t>(text);
  if (!level) return Fail(level.error());
  if (*level > 0x7fffffff) {
    return Fail("strconv.ParseUint: parsing " + Quoted(text) + ": value out of range");
  }
  return static_cast<int>(*level);
}

// "pattern=N,pattern=N".
Result<std::vector<base::VModule>> ReadVModule(const std::string& text) {
  std::vector<base::VModule> modules;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string pair(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == pair.size() ||
        pair.find('=', equals + 1) != std::string::npos) {
      return Fail(Quoted(pair) + " does not have the pattern=N format");
    }
    const auto level = ReadLevel(pair.substr(equals + 1));
    if (!level) return Fail("parsing verbosity in " + Quoted(pair) + ": " + level.error().message);
    modules.push_back({pair.substr(0, equals), *level});
  }
  return modules;
}

std::string WriteVModule(const std::vector<base::VModule>& modules) {
  std::string text;
  for (const base::VModule& module : modules) {
    text += (text.empty() ? "" : ",") + module.pattern + "=" + std::to_string(module.verbosity);
  }
  return text;
}

void AddBufferSize(FlagSet& flags, const std::string& name, api::Quantity& out) {
  flags.Add(
      name, "quantity",
      "Accepted with the feature gate LoggingAlphaOptions; nothing is buffered (0).",
      [&out](const std::string& text) -> Result<void> {
        const auto size = api::Quantity::Parse(text);
        if (!size) return Fail(size.error());
        out = *size;
        return {};
      },
      [&out] { return out.ToCanonicalString(); });
}

}  // namespace

void AddSecureServing(FlagSet& flags, SecureServingFlags& out) {
  flags.Group("Secure serving flags");
  flags.Add(
      "bind-address", "ip", "Address to serve HTTPS on; empty, 0.0.0.0 or :: for all (0.0.0.0).",
      [&out](const std::string& text) { return ReadAddress(text, out.bind_address); },
      [&out] { return out.bind_address; });
  flags.Value("cert-dir",
              "Folder of kube-scheduler.crt and .key, made there when missing; without it and "
              "--tls-cert-file a self-signed certificate is kept in memory.",
              out.cert_dir);
  flags.Value("disable-http2-serving", "Changes nothing: only HTTP/1.1 is served (false).",
              out.disable_http2_serving);
  flags.Value("http2-max-streams-per-connection",
              "Requests at once on one HTTP/2 connection; 0 for the default (0).",
              out.http2_max_streams_per_connection);
  flags.Value("permit-address-sharing", "Changes nothing: SO_REUSEADDR is always on (false).",
              out.permit_address_sharing);
  flags.Value("permit-port-sharing", "Listen with SO_REUSEPORT (false).", out.permit_port_sharing);
  flags.Value("secure-port", "Port to serve HTTPS on; 0 for not at all (10259).", out.secure_port);
  flags.Value("tls-cert-file", "Certificate to serve with, and its chain.", out.tls_cert_file);
  flags.Value("tls-cipher-suites", "Cipher suites, by their IANA names; empty for the default.",
              out.tls_cipher_suites);
  flags.Add(
      "tls-curve-preferences", "int32Slice", "Key exchanges, by Go's CurveIDs.",
      [&out, given = false](const std::string& text) mutable {
        return ReadCurves(text, given, out.tls_curve_preferences);
      },
      [&out] { return ShowCurves(out.tls_curve_preferences); });
  flags.Value("tls-min-version", "VersionTLS12 (the default) or VersionTLS13.",
              out.tls_min_version);
  flags.Value("tls-private-key-file", "Key of --tls-cert-file.", out.tls_private_key_file);
  flags.Add(
      "tls-sni-cert-key", "namedCertKey",
      "A certificate and key for certain host names, cert,key[:names]; may be repeated.",
      [&out](const std::string& text) -> Result<void> {
        auto certificate = ReadSniCertificate(text);
        if (!certificate) return Fail(certificate.error());
        out.tls_sni_cert_key.push_back(std::move(*certificate));
        return {};
      },
      [&out] { return ShowSniCertificates(out.tls_sni_cert_key); });
}

void AddAuthentication(FlagSet& flags, AuthenticationFlags& out) {
  flags.Group("Authentication flags");
  flags.Value("authentication-kubeconfig",
              "Kubeconfig of the API server that reviews callers' tokens; without it tokens count "
              "as anonymous and no CA is looked up in the cluster.",
              out.kubeconfig);
  flags.Value("authentication-skip-lookup",
              "Do not look up missing settings in the cluster (false).", out.skip_lookup);
  flags.Value("authentication-token-webhook-cache-ttl",
              "How long the review of a token counts (10s).", out.token_webhook_cache_ttl);
  flags.Value("authentication-tolerate-lookup-failure", "Go on where that look-up fails (true).",
              out.tolerate_lookup_failure);
  flags.Value("client-ca-file", "Authorities whose client certificates name the caller.",
              out.client_ca_file);
  flags.Value("requestheader-allowed-names",
              "Common names of proxies that may name callers in headers; empty for any.",
              out.requestheader_allowed_names);
  flags.Value("requestheader-client-ca-file", "Authorities of those proxies' certificates.",
              out.requestheader_client_ca_file);
  flags.Value("requestheader-extra-headers-prefix",
              "Prefixes of headers with more about the caller (x-remote-extra-).",
              out.requestheader_extra_headers_prefix);
  flags.Value("requestheader-group-headers", "Headers with the caller's groups (x-remote-group).",
              out.requestheader_group_headers);
  flags.Value("requestheader-uid-headers", "Headers with the caller's UID.",
              out.requestheader_uid_headers);
  flags.Value("requestheader-username-headers", "Headers with the caller's name (x-remote-user).",
              out.requestheader_username_headers);
}

void AddAuthorization(FlagSet& flags, AuthorizationFlags& out) {
  flags.Group("Authorization flags");
  flags.Value("authorization-always-allow-paths",
              "Paths that every caller may get; a trailing * stands for any rest "
              "(/healthz,/readyz,/livez).",
              out.always_allow_paths);
  flags.Value("authorization-kubeconfig",
              "Kubeconfig of the API server that reviews callers' rights; without it all other "
              "paths are forbidden.",
              out.kubeconfig);
  flags.Value("authorization-webhook-cache-authorized-ttl", "How long a yes counts (10s).",
              out.webhook_cache_authorized_ttl);
  flags.Value("authorization-webhook-cache-unauthorized-ttl", "How long a no counts (10s).",
              out.webhook_cache_unauthorized_ttl);
}

void AddMetrics(FlagSet& flags, MetricsFlags& out) {
  flags.Group("Metrics flags");
  flags.Add(
      "allow-metric-labels", "stringToString",
      "Values that a label may have, others become \"unexpected\": "
      "metric,label='value,value'.",
      [&out](const std::string& text) {
        return ReadLabelAllowLists(text, out.allow_metric_labels);
      },
      [&out] { return ShowLabelAllowLists(out.allow_metric_labels); });
  flags.Value("allow-metric-labels-manifest", "File with the same, under allowListMapping.",
              out.allow_metric_labels_manifest);
  flags.Value("disabled-metrics", "Full names of metrics to leave out.", out.disabled_metrics);
  flags.Value("show-hidden-metrics-for-version",
              "Show what the previous minor version still showed.",
              out.show_hidden_metrics_for_version);
}

bool IsMetricAndLabel(std::string_view key) {
  const size_t comma = key.find(',');
  return comma != std::string_view::npos && IsName(key.substr(0, comma), true) &&
         IsName(key.substr(comma + 1), false);
}

std::vector<std::string> ServingFlagProblems(const RunFlags& flags, bool uid_headers) {
  std::vector<std::string> problems;
  const int64_t port = flags.secure_serving.secure_port;
  if (port < 0 || port > 65535) {
    // Of a port that is too high kube-scheduler says what is not so: 0 does turn it off.
    problems.push_back("--secure-port " + std::to_string(port) +
                       (port < 0 ? " must be between 0 and 65535, inclusive. 0 for turning off "
                                   "secure port"
                                 : " must be between 1 and 65535, inclusive. It cannot be turned "
                                   "off with 0"));
  }
  const AuthenticationFlags& authentication = flags.authentication;
  const struct {
    std::string_view flag;
    const std::vector<std::string>& values;
  } lists[] = {
      {"requestheader-username-headers", authentication.requestheader_username_headers},
      {"requestheader-group-headers", authentication.requestheader_group_headers},
      {"requestheader-extra-headers-prefix", authentication.requestheader_extra_headers_prefix},
      {"requestheader-allowed-names", authentication.requestheader_allowed_names},
      {"requestheader-uid-headers", authentication.requestheader_uid_headers},
  };
  const std::vector<std::string>& uids = authentication.requestheader_uid_headers;
  for (const auto& [flag, values] : lists) {
    if (&values == &uids && !uid_headers) continue;
    const bool empty = std::any_of(values.begin(), values.end(), [](const std::string& value) {
      return base::Trim(value).empty();
    });
    if (empty) problems.push_back("empty value in " + Quoted(flag));
  }
  if (!uids.empty() && !uid_headers) {
    problems.push_back(
        "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be "
        "enabled");
  } else if (!uids.empty() && !HasHeader(uids, "X-Remote-Uid")) {
    problems.push_back(
        "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - "
        "API aggregation will not work");
  }
  CheckMetrics(flags.metrics, problems);
  // The paths are looked at once all else is well, and only where something is served.
  if (!problems.empty() || port == 0) return problems;
  for (const std::string& path : flags.authorization.always_allow_paths) {
    const std::string_view bare = std::string_view(path).substr(path.starts_with('/') ? 1 : 0);
    if (bare.find('*') >= bare.size() - std::min<size_t>(bare.size(), 1)) continue;
    problems.push_back("only trailing * allowed in " + Quoted(bare));
    break;
  }
  return problems;
}

std::vector<std::string> ServingFlagWarnings(const RunFlags& flags) {
  const AuthenticationFlags& authentication = flags.authentication;
  const struct {
    std::string_view flag;
    std::string_view header;
    const std::vector<std::string>& values;
  } lists[] = {
      {"username-headers", "X-Remote-User", authentication.requestheader_username_headers},
      {"group-headers", "X-Remote-Group", authentication.requestheader_group_headers},
      {"extra-headers-prefix", "X-Remote-Extra-",
       authentication.requestheader_extra_headers_prefix},
  };
  std::vector<std::string> warnings;
  for (const auto& [flag, header, values] : lists) {
    if (values.empty() || HasHeader(values, std::string(header))) continue;
    warnings.push_back("--requestheader-" + std::string(flag) + " is without " +
                       std::string(header) + ", by which the API server names callers");
  }
  return warnings;
}

void AddLogs(FlagSet& flags, LogFlags& out) {
  flags.Group("Logs flags");
  flags.Value("log-flush-frequency", "Each line is written at once, whatever this says (5s).",
              out.flush_frequency);
  AddBufferSize(flags, "log-json-info-buffer-size", out.json_info_buffer);
  flags.Value("log-json-split-stream",
              "JSON: errors on standard error, all else on standard output. Needs the feature gate "
              "LoggingAlphaOptions (false).",
              out.json_split_stream);
  AddBufferSize(flags, "log-text-info-buffer-size", out.text_info_buffer);
  flags.Value("log-text-split-stream",
              "Text: errors on standard error, all else on standard output. Needs the feature gate "
              "LoggingAlphaOptions (false).",
              out.text_split_stream);
  flags.Value("logging-format", "Form of the log: text or json (text).", out.format);
  flags.AddRead("v", "Level", "Verbosity of the log (0).", ReadLevel, out.options.verbosity,
                [&out] { return std::to_string(out.options.verbosity); });
  flags.Add(
      "vmodule", "pattern=N,...",
      "Verbosity of source files by name, without extension; for text logs only.",
      [&out](const std::string& text) -> Result<void> {
        auto modules = ReadVModule(text);
        if (!modules) return Fail(modules.error());
        out.options.vmodule.insert(out.options.vmodule.end(), modules->begin(), modules->end());
        return {};
      },
      [&out] { return WriteVModule(out.options.vmodule); });
}

Result<void> FinishLogFlags(LogFlags& flags, const LogGates& gates) {
  std::vector<std::string> problems;
  if (flags.flush_frequency <= Duration::zero()) {
    problems.push_back(InvalidField("flushFrequency",
                                    Quoted(FormatGoDuration(flags.flush_frequency)),
                                    "Must be greater than zero"));
  }
  if (flags.format != "text" && flags.format != "json") {
    problems.push_back(InvalidField("format", Quoted(flags.format), "Unsupported log format"));
  } else if (flags.format == "json" && !gates.beta_options) {
    problems.push_back(
        ForbiddenField("format", "Log format json is disabled, see LoggingBetaOptions feature"));
  }
  if (!flags.options.vmodule.empty() && !flags.format.empty() && flags.format != "text") {
    problems.push_back(ForbiddenField("vmodule", "Only supported for text log format"));
  }
  const struct {
    bool given;
    std::string_view field;
  } alpha[] = {{flags.text_split_stream, "options.text.splitStream"},
               {flags.text_info_buffer.Value() != 0, "options.text.infoBufferSize"},
               {flags.json_split_stream, "options.json.splitStream"},
               {flags.json_info_buffer.Value() != 0, "options.json.infoBufferSize"}};
  for (const auto& [given, field] : alpha) {
    if (!given || gates.alpha_options) continue;
    problems.push_back(ForbiddenField(field, "Feature LoggingAlphaOptions is disabled"));
  }
  if (auto error = AggregateProblems(problems)) return Fail(std::move(*error));
  flags.options.format = flags.format == "json" ? base::LogFormat::kJson : base::LogFormat::kText;
  flags.options.split_stream =
      flags.format == "json" ? flags.json_split_stream : flags.text_split_stream;
  return {};
}

}  // namespace berth::app
