// SPDX-License-Identifier: Apache-2.0
#include "src/documents/yaml_builder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "berth/field_errors.h"
#include "berth/result.h"
#include "src/documents/duplicates.h"

namespace berth::documents {
namespace {

// What a plain scalar of YAML 1.1 means to Kubernetes, which turns it into JSON: null, a boolean
// (also yes, no, on, off, y, n), an integer (decimal, 0x, 0o, 0b, octal with a leading 0, digits
// grouped by _), another number, or else a string. Numbers without a fraction that fit are
// integers. Errors: infinities and NaN, which JSON does not have.
//
// The rules are those of go.yaml.in/yaml/v2, which sigs.k8s.io/yaml reads with.
Result<ConfigValue> ResolvePlainScalar(std::string_view text, int line);

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<bool> ReadBool(std::string_view text) {
  if (IsOneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}))
    return true;
  if (IsOneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
    return false;
  return std::nullopt;
}

bool IsNotFinite(std::string_view text) {
  if (IsOneOf(text, {".nan", ".NaN", ".NAN"})) return true;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  return IsOneOf(text, {".inf", ".Inf", ".INF"});
}

// Takes "0x", "0o", "0b" or a leading "0" off.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits.front() != '0') return 10;
  const char letter = digits[1];
  const int base = letter == 'x' || letter == 'X'   ? 16
                   : letter == 'o' || letter == 'O' ? 8
                   : letter == 'b' || letter == 'B' ? 2
                                                    : 0;
  digits.remove_prefix(base == 0 ? 1 : 2);
  return base == 0 ? 8 : base;
}

bool TakeSign(std::string_view& text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  return negative;
}

// Up to the range of uint64, beyond int64 as a double.
std::optional<ConfigValue> ReadInteger(std::string_view text, int line) {
  const bool has_sign = !text.empty() && (text.front() == '-' || text.front() == '+');
  const bool negative = TakeSign(text);
  const int base = TakeBase(text);
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (size <= kMost) {
    const auto value = static_cast<int64_t>(size);
    return ConfigValue(negative ? -value : value, line);
  }
  if (negative && size == kMost + 1) return ConfigValue(std::numeric_limits<int64_t>::min(), line);
  if (has_sign) return std::nullopt;
  return ConfigValue(static_cast<double>(size), line);
}

bool SkipDigits(std::string_view& text) {
  const size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(length);
  return length > 0;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  TakeSign(text);
  const bool whole = SkipDigits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (!SkipDigits(text) && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  TakeSign(text);
  return SkipDigits(text) && text.empty();
}

std::optional<ConfigValue> ReadFloat(std::string_view text, int line) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  const bool negative = TakeSign(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool tiny = error == std::errc::result_out_of_range && text.find('-') != text.npos;
  if (tiny) value = 0;
  if (error != std::errc{} && !tiny) return std::nullopt;
  // JSON writes 1e3 as 1000, which reads back as an integer.
  if (value == std::floor(value) && value < static_cast<double>(int64_t{1} << 62)) {
    const auto integer = static_cast<int64_t>(value);
    return ConfigValue(negative ? -integer : integer, line);
  }
  return ConfigValue(negative ? -value : value, line);
}

Result<ConfigValue> ResolvePlainScalar(std::string_view text, int line) {
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return ConfigValue(std::monostate(), line);
  if (const auto value = ReadBool(text)) return ConfigValue(*value, line);
  if (IsNotFinite(text)) return Fail("json: unsupported value: " + std::string(text));
  const char first = text.front();
  if (first == '.') {
    if (auto number = ReadFloat(text, line)) return *std::move(number);
  } else if (first == '+' || first == '-' || (first >= '0' && first <= '9')) {
    std::string plain(text);
    std::erase(plain, '_');
    if (auto number = ReadInteger(plain, line)) return *std::move(number);
    if (auto number = ReadFloat(plain, line)) return *std::move(number);
  }
  return ConfigValue(std::string(text), line);
}

// How often progress is reported, in characters.
constexpr size_t kYamlProgressStep = size_t{1} << 20;

constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";

bool HasType(const ConfigValue& value, std::string_view name) {
  if (name == "bool") return value.boolean() != nullptr;
  if (name == "null") return value.is_null();
  return value.integer() != nullptr || (name == "float" && value.real() != nullptr);
}

}  // namespace

Result<void> YamlBuilder::Finish(std::string_view file) {
  if (refusal_) return Fail(*std::move(refusal_));
  if (fatal_) return Fail(At(file, fatal_->line) + "yaml: " + fatal_->text);
  if (problems_.empty()) return {};
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  std::string text = At(file, problems_.front().line) + "yaml: unmarshal errors:";
  for (const Problem& problem : problems_)
    text += "\n  line " + std::to_string(problem.line) + ": " + problem.text;
  return Fail(std::move(text));
}

std::string YamlBuilder::At(std::string_view file, int line) {
  if (file.empty()) return "line " + std::to_string(line) + ": ";
  return std::string(file) + ":" + std::to_string(line) + ": ";
}

void YamlBuilder::OnDocumentStart(const YAML::Mark& mark) {
  ++number_;
  anchors_.Clear();
  repeated_ = false;
  // The parser must get on, whatever the text: yaml-cpp 0.7 has been seen not to (tests/fuzz).
  if (mark.pos == document_at_) Fatal(LineOf(mark), "did not find expected <document start>");
  document_at_ = mark.pos;
}

void YamlBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  Add(ConfigValue(std::monostate(), LineOf(mark)), anchor);
}

void YamlBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (fatal_) return;
  const ConfigValue* value = anchors_.Find(anchor, [this](size_t depth, size_t index) {
    const Frame& frame = frames_[depth];
    return frame.collection == Collection::kSequence ? &frame.list[index]
                                                     : &frame.map[index].second;
  });
  if (value == nullptr) return Fatal(LineOf(mark), "anchor value contains itself");
  if (MayCopy(*value, LineOf(mark))) Add(ConfigValue(*value), 0);
}

void YamlBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& text) {
  if (fatal_) return;
  const int line = LineOf(mark);
  if (tag == "?" && text == "<<" && ExpectsKey()) {
    frames_.back().merging = true;
    return;
  }
  std::string_view name = tag;
  const bool standard = name.starts_with(kStandardTag);
  if (standard) name.remove_prefix(kStandardTag.size());
  if (standard && name == "binary" && !options_.on_repeated_key)
    return Fatal(line, "!!binary is not supported");
  const bool resolves =
      tag == "?" ||
      (standard && (name == "int" || name == "float" || name == "bool" || name == "null"));
  if (!resolves) return Add(ConfigValue(std::string(text), line), anchor);
  auto value = ResolvePlainScalar(text, line);
  if (!value) return Fatal(line, value.error().message);
  if (standard && !HasType(*value, name))
    return Fatal(line, "cannot decode `" + text + "` as a !!" + std::string(name));
  Add(*std::move(value), anchor);
}

void YamlBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value) {
  Open(mark, anchor, Collection::kSequence);
}

void YamlBuilder::OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value) {
  Open(mark, anchor, Collection::kMap);
}

bool YamlBuilder::MayCopy(const ConfigValue& value, int line) {
  CountCopied(value);
  if (copied_values_ <= kMaxCopiedValues && copied_text_ <= kMaxCopiedText) return true;
  Fatal(line, "document contains excessive aliasing");
  return false;
}

void YamlBuilder::CountCopied(const ConfigValue& value) {
  ++copied_values_;
  if (value.string() != nullptr) copied_text_ += value.string()->size();
  if (value.list() != nullptr)
    for (const ConfigValue& element : *value.list()) CountCopied(element);
  if (value.map() == nullptr) return;
  for (const auto& [key, member] : *value.map()) {
    copied_text_ += key.size();
    CountCopied(member);
  }
}

bool YamlBuilder::ExpectsKey() const {
  return !frames_.empty() && frames_.back().collection == Collection::kMap && !frames_.back().key &&
         !frames_.back().merging;
}

void YamlBuilder::Open(const YAML::Mark& mark, YAML::anchor_t anchor, Collection collection) {
  if (fatal_) return;
  if (ExpectsKey()) return Fatal(LineOf(mark), "invalid map key: not a scalar");
  Frame& frame = frames_.emplace_back();
  frame.collection = collection;
  frame.line = LineOf(mark);
  if (anchor != 0) {
    MakeKnown();
    anchors_.SetCollection(anchor, frame.known_as);
  }
  const auto at = static_cast<size_t>(mark.pos);
  if (progress_ != nullptr && at >= told_ + kYamlProgressStep) {
    told_ = at;
    progress_(at);
  }
}

void YamlBuilder::MakeKnown() {
  size_t unknown = frames_.size();
  while (unknown > 0 && frames_[unknown - 1].known_as == YamlAnchors::kNone) --unknown;
  for (; unknown < frames_.size(); ++unknown) {
    const size_t parent = unknown == 0 ? YamlAnchors::kNone : frames_[unknown - 1].known_as;
    frames_[unknown].known_as = anchors_.Open(parent, unknown);
  }
}

void YamlBuilder::Close() {
  if (fatal_) return;
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  ConfigValue value;
  if (frame.collection == Collection::kSequence) {
    value = ConfigValue(std::move(frame.list), frame.line);
  } else {
    CheckRepeatedKeys(frame);
    value = ConfigValue(std::move(frame.map), frame.line);
  }
  if (frame.known_as != YamlAnchors::kNone && !frames_.empty()) {
    const Frame& parent = frames_.back();
    if (!parent.merging) {
      anchors_.Close(frame.known_as, parent.collection == Collection::kSequence
                                         ? parent.list.size()
                                         : parent.map.size());
    } else if (MayCopy(value, frame.line)) {
      anchors_.Detach(frame.known_as, value);
    }
  }
  Add(std::move(value), 0);
}

void YamlBuilder::Add(ConfigValue value, YAML::anchor_t anchor) {
  if (fatal_) return;
  if (anchor != 0) anchors_.SetScalar(anchor, value);
  if (frames_.empty()) {
    if (value.is_null() || !problems_.empty() || refusal_) return;
    // Until now anchors knew the members by their place.
    if (repeated_) value = KeepLastOfEachKey(value);
    if (auto visited = visit_(std::move(value), number_); !visited) refusal_ = visited.error();
    return;
  }
  Frame& frame = frames_.back();
  if (frame.collection == Collection::kSequence) {
    frame.list.push_back(std::move(value));
  } else if (frame.merging) {
    frame.merging = false;
    if (MayCopy(value, value.line())) Merge(frame, value);
  } else if (!frame.key) {
    SetKey(frame, value);
  } else {
    frame.map.emplace_back(*std::move(frame.key), std::move(value));
    frame.key.reset();
  }
}

void YamlBuilder::SetKey(Frame& frame, const ConfigValue& value) {
  if (value.string() != nullptr) {
    frame.key = *value.string();
  } else if (value.is_null() || value.list() != nullptr || value.map() != nullptr) {
    Fatal(value.line(), "invalid map key: not a scalar");
  } else {
    frame.key = value.ToJson();
  }
}

void YamlBuilder::Merge(Frame& frame, const ConfigValue& value) {
  if (value.map() != nullptr) {
    const size_t begin = frame.map.size();
    frame.map.insert(frame.map.end(), value.map()->begin(), value.map()->end());
    frame.merged.emplace_back(begin, frame.map.size());
    return;
  }
  const bool all_maps =
      value.list() != nullptr &&
      std::all_of(value.list()->begin(), value.list()->end(),
                  [](const ConfigValue& element) { return element.map() != nullptr; });
  if (!all_maps)
    return Fatal(value.line(), "map merge requires map or sequence of maps as the value");
  // Where the last of equal keys counts, that is to be the first map's.
  const ConfigValue::List& maps = *value.list();
  for (size_t i = 0; i < maps.size(); ++i) {
    Merge(frame, options_.on_repeated_key ? maps[maps.size() - 1 - i] : maps[i]);
  }
}

void YamlBuilder::CheckRepeatedKeys(const Frame& frame) {
  ForEachDuplicate(frame.map, [&](const auto& member, const auto& ahead) {
    if (!options_.on_repeated_key) {
      problems_.push_back(
          {member.second.line(), "key " + Quoted(member.first) + " already set in map"});
      return;
    }
    repeated_ = true;
    const auto is_merged = [&](const auto& of) {
      const auto index = static_cast<size_t>(&of - frame.map.data());
      const auto behind = std::upper_bound(
          frame.merged.begin(), frame.merged.end(), index,
          [](size_t of_member, const auto& span) { return of_member < span.second; });
      return behind != frame.merged.end() && index >= behind->first;
    };
    if (is_merged(member) || is_merged(ahead)) return;
    options_.on_repeated_key(member.second.line(), member.first);
  });
}

}  // namespace berth::documents
