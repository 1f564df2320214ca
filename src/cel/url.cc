// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "src/cel/go_text.h"
#include "src/cel/net.h"

namespace berth::cel {
namespace {

enum class UrlPart : uint8_t { kUser, kHost, kZone, kPath, kQuery };

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool IsUnreserved(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '~';
}

bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

bool IsHostCharacter(char c) { return IsUnreserved(c) || IsOneOf(c, "!$&'()*+,;=:[]<>\""); }

Result<std::string> Unescape(std::string_view text, UrlPart part) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      const bool valid =
          i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0;
      const std::string_view escape = text.substr(i, 3);
      if (!valid || (part == UrlPart::kHost && HexDigit(text[i + 1]) < 8 && escape != "%25"))
        return Fail("invalid URL escape " + GoQuote(escape));
      const auto byte = static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      if (part == UrlPart::kZone && escape != "%25" && byte != ' ' && !IsHostCharacter(byte))
        return Fail("invalid URL escape " + GoQuote(escape));
      out += byte;
      i += 2;
    } else if ((part == UrlPart::kHost || part == UrlPart::kZone) &&
               static_cast<unsigned char>(c) < 0x80 && !IsHostCharacter(c)) {
      return Fail("invalid character " + GoQuote(text.substr(i, 1)) + " in host name");
    } else {
      out += c == '+' && part == UrlPart::kQuery ? ' ' : c;
    }
  }
  return out;
}

std::string EscapePath(std::string_view path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (IsUnreserved(c) || IsOneOf(c, "$&+,/:;=@")) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

// As it is when every character may stand in a path.
std::string EscapedPath(std::string_view raw, std::string_view path) {
  const bool valid = std::all_of(raw.begin(), raw.end(), [](char c) {
    return IsUnreserved(c) || IsOneOf(c, "$&+,/:;=@!'()*[]%");
  });
  if (valid || path == "*") return std::string(raw);
  return EscapePath(path);
}

bool IsOptionalPort(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

Result<void> CheckPort(std::string_view text) {
  if (!IsOptionalPort(text)) return Fail("invalid port " + GoQuote(text) + " after host");
  return {};
}

Result<std::string> BracketedHost(std::string_view host) {
  const size_t close = host.rfind(']');
  if (close == std::string_view::npos) return Fail("missing ']' in host");
  const std::string_view port = host.substr(close + 1);
  if (Result<void> checked = CheckPort(port); !checked) return Fail(checked.error());
  const std::string_view name = host.substr(1, close - 1);
  const size_t zone = std::min(name.find("%25"), name.size());
  Result<std::string> address = Unescape(name.substr(0, zone), UrlPart::kHost);
  if (!address) return address;
  Result<std::string> zone_text = Unescape(name.substr(zone), UrlPart::kZone);
  if (!zone_text) return zone_text;
  const ReadAddressResult read = ReadAddress(*address + *zone_text);
  if (!read.complaint.empty()) return Fail("invalid host: " + read.complaint);
  if (read.address.is_v4) return Fail("invalid IP-literal");
  return "[" + *address + *zone_text + "]" + std::string(port);
}

Result<std::string> ReadHost(std::string_view scheme, std::string_view host) {
  const size_t open = host.rfind('[');
  if (open == 0) return BracketedHost(host);
  if (open != std::string_view::npos) return Fail("invalid IP-literal");
  if (const size_t colon = host.find(':'); colon != std::string_view::npos) {
    const bool web = scheme == "http" || scheme == "https";
    const std::string_view port = host.substr(web ? colon : host.rfind(':'));
    if (Result<void> checked = CheckPort(port); !checked) return Fail(checked.error());
  }
  return Unescape(host, UrlPart::kHost);
}

Result<void> ReadAuthority(std::string_view authority, Url& url) {
  const size_t at = authority.rfind('@');
  const bool has_user = at != std::string_view::npos;
  Result<std::string> host = ReadHost(url.scheme, has_user ? authority.substr(at + 1) : authority);
  if (!host) return Fail(host.error());
  url.host = *std::move(host);
  if (!has_user) return {};
  const std::string_view user = authority.substr(0, at);
  for (const char c : user)
    if (!IsUnreserved(c) && !IsOneOf(c, ":!$&'()*+,;=%@")) return Fail("net/url: invalid userinfo");
  Result<std::string> read = Unescape(user, UrlPart::kUser);
  if (!read) return Fail(read.error());
  url.user = *std::move(read);
  return {};
}

// The scheme off the front of `rest`; empty: none.
Result<std::string> TakeScheme(std::string_view& rest) {
  for (size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    const char lower = static_cast<char>(c | 0x20);
    if (lower >= 'a' && lower <= 'z') continue;
    if (c == ':') {
      if (i == 0) return Fail("missing protocol scheme");
      std::string scheme(rest.substr(0, i));
      for (char& letter : scheme)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 32);
      rest.remove_prefix(i + 1);
      return scheme;
    }
    const bool inner = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (!inner || i == 0) return std::string();
  }
  return std::string();
}

Result<Url> Read(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      return Fail("net/url: invalid control character in URL");
  if (text.empty()) return Fail("empty url");
  Url url;
  if (text == "*") {
    url.escaped_path = "*";
    return url;
  }
  std::string_view rest = text;
  Result<std::string> scheme = TakeScheme(rest);
  if (!scheme) return Fail(scheme.error());
  url.scheme = *std::move(scheme);
  if (const size_t query = rest.find('?'); query != std::string_view::npos) {
    url.query = std::string(rest.substr(query + 1));
    rest = rest.substr(0, query);
  }
  if (!rest.starts_with('/')) {
    if (url.scheme.empty()) return Fail("invalid URI for request");
    url.opaque = std::string(rest);
    return url;
  }
  if (!url.scheme.empty() && rest.starts_with("//")) {
    const size_t end = std::min(rest.find('/', 2), rest.size());
    if (Result<void> read = ReadAuthority(rest.substr(2, end - 2), url); !read)
      return Fail(read.error());
    rest = rest.substr(end);
  }
  const Result<std::string> path = Unescape(rest, UrlPart::kPath);
  if (!path) return Fail(path.error());
  url.escaped_path = EscapedPath(rest, *path);
  return url;
}

Result<Url> ReadQuoted(std::string_view text, std::string_view whole) {
  Result<Url> url = Read(text);
  if (!url) return Fail("parse " + GoQuote(whole) + ": " + url.error().message);
  return url;
}

size_t PortColon(const std::string& host) {
  const size_t colon = host.rfind(':');
  return colon != std::string::npos && IsOptionalPort(std::string_view(host).substr(colon))
             ? colon
             : std::string::npos;
}

}  // namespace

Result<void> CheckRequestUri(std::string_view text) {
  if (const Result<Url> url = ReadQuoted(text, text); !url) return Fail(url.error());
  return {};
}

Result<Url> ParseUrl(std::string_view text) {
  // As a request's URI it must be right as a whole; then what follows '#' is taken off.
  if (Result<Url> whole = ReadQuoted(text, text); !whole) return whole;
  const size_t hash = std::min(text.find('#'), text.size());
  Result<Url> url = ReadQuoted(text.substr(0, hash), text);
  if (!url || hash == text.size()) return url;
  Result<std::string> fragment = Unescape(text.substr(hash + 1), UrlPart::kPath);
  if (!fragment) return Fail("parse " + GoQuote(text) + ": " + fragment.error().message);
  url->fragment = *std::move(fragment);
  return url;
}

std::string HostnameOf(const Url& url) {
  std::string host = url.host.substr(0, PortColon(url.host));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}

std::string PortOf(const Url& url) {
  const size_t colon = PortColon(url.host);
  return colon == std::string::npos ? "" : url.host.substr(colon + 1);
}

std::vector<std::pair<std::string, std::string>> QueryOf(const Url& url) {
  std::vector<std::pair<std::string, std::string>> query;
  std::string_view rest = url.query;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    Result<std::string> key = Unescape(pair.substr(0, equals), UrlPart::kQuery);
    Result<std::string> value =
        Unescape(pair.substr(std::min(equals + 1, pair.size())), UrlPart::kQuery);
    if (key && value) query.emplace_back(*std::move(key), *std::move(value));
  }
  return query;
}

}  // namespace berth::cel
