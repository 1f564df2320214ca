// SPDX-License-Identifier: Apache-2.0
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "berth/field_errors.h"
#include "src/documents/duplicates.h"
#include "src/documents/parse.h"
#include "src/documents/yaml_scalar.h"

namespace berth::documents {
namespace {

// Values that aliases may add to a document; a few lines can ask for billions.
constexpr size_t kMaxAliasedValues = 400'000;

// How often progress is told, in characters.
constexpr size_t kYamlProgressStep = size_t{1} << 20;

constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";

struct Problem {
  int line = 0;
  std::string text;
};

// How many values a tree has, itself included.
size_t CountValues(const ConfigValue& value) {
  size_t count = 1;
  if (value.list() != nullptr)
    for (const ConfigValue& element : *value.list()) count += CountValues(element);
  if (value.map() != nullptr)
    for (const auto& member : *value.map()) count += CountValues(member.second);
  return count;
}

// Builds documents out of the parser's events. After the first fatal problem it ignores the rest.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const YamlVisitor& visit, const YamlProgress& progress)
      : visit_(visit), progress_(progress) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    ++number_;
    anchors_.clear();
    // At a token that cannot begin a node, yaml-cpp hands out empty documents for ever.
    if (mark.pos == document_at_) Fatal(LineOf(mark), "did not find expected <document start>");
    document_at_ = mark.pos;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(ConfigValue(std::monostate(), LineOf(mark)), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (fatal_) return;
    if (anchor >= anchors_.size() || !anchors_[anchor])
      return Fatal(LineOf(mark), "anchor value contains itself");
    aliased_ += CountValues(*anchors_[anchor]);
    if (aliased_ > kMaxAliasedValues)
      return Fatal(LineOf(mark), "document contains excessive aliasing");
    Add(ConfigValue(*anchors_[anchor]), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (fatal_) return;
    const int line = LineOf(mark);
    if (tag == "?" && text == "<<" && ExpectsKey()) {
      frames_.back().merging = true;
      return;
    }
    std::string_view name = tag;
    const bool standard = name.starts_with(kStandardTag);
    if (standard) name.remove_prefix(kStandardTag.size());
    if (standard && name == "binary") return Fatal(line, "!!binary is not supported");
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

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, Collection::kSequence);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, anchor, Collection::kMap);
  }
  void OnMapEnd() override { Close(); }

  // All that was wrong.
  Result<void> Finish(std::string_view file) {
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

  bool failed() const { return fatal_.has_value() || refusal_.has_value(); }

  static std::string At(std::string_view file, int line) {
    if (file.empty()) return "line " + std::to_string(line) + ": ";
    return std::string(file) + ":" + std::to_string(line) + ": ";
  }
  static int LineOf(const YAML::Mark& mark) { return mark.line + 1; }

 private:
  enum class Collection { kSequence, kMap };
  // One that has begun and not ended.
  struct Frame {
    Collection collection = Collection::kSequence;
    int line = 0;
    YAML::anchor_t anchor = 0;
    ConfigValue::List list;
    ConfigValue::Map map;
    std::optional<std::string> key;  // its value comes next
    bool merging = false;            // the value of << comes next
  };

  void Fatal(int line, std::string text) {
    if (!fatal_) fatal_ = Problem{line, std::move(text)};
  }

  bool ExpectsKey() const {
    return !frames_.empty() && frames_.back().collection == Collection::kMap &&
           !frames_.back().key && !frames_.back().merging;
  }

  static bool HasType(const ConfigValue& value, std::string_view name) {
    if (name == "bool") return value.boolean() != nullptr;
    if (name == "null") return value.is_null();
    return value.integer() != nullptr || (name == "float" && value.real() != nullptr);
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, Collection collection) {
    if (fatal_) return;
    if (ExpectsKey()) return Fatal(LineOf(mark), "invalid map key: not a scalar");
    Frame& frame = frames_.emplace_back();
    frame.collection = collection;
    frame.line = LineOf(mark);
    frame.anchor = anchor;
    const auto at = static_cast<size_t>(mark.pos);
    if (progress_ != nullptr && at >= told_ + kYamlProgressStep) {
      told_ = at;
      progress_(at);
    }
  }

  void Close() {
    if (fatal_) return;
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (frame.collection == Collection::kSequence)
      return Add(ConfigValue(std::move(frame.list), frame.line), frame.anchor);
    ForEachDuplicate(frame.map, [&](const auto& member) {
      problems_.push_back(
          {member.second.line(), "key " + Quoted(member.first) + " already set in map"});
    });
    Add(ConfigValue(std::move(frame.map), frame.line), frame.anchor);
  }

  // Puts a finished value where it belongs.
  void Add(ConfigValue value, YAML::anchor_t anchor) {
    if (fatal_) return;
    if (anchor != 0) {
      if (anchors_.size() <= anchor) anchors_.resize(anchor + 1);
      anchors_[anchor] = value;
    }
    if (frames_.empty()) {
      if (value.is_null() || !problems_.empty() || refusal_) return;
      if (auto visited = visit_(std::move(value), number_); !visited) refusal_ = visited.error();
      return;
    }
    Frame& frame = frames_.back();
    if (frame.collection == Collection::kSequence) {
      frame.list.push_back(std::move(value));
    } else if (frame.merging) {
      frame.merging = false;
      Merge(frame, value);
    } else if (!frame.key) {
      SetKey(frame, value);
    } else {
      frame.map.emplace_back(*std::move(frame.key), std::move(value));
      frame.key.reset();
    }
  }

  void SetKey(Frame& frame, const ConfigValue& value) {
    if (value.string() != nullptr) {
      frame.key = *value.string();
    } else if (value.is_null() || value.list() != nullptr || value.map() != nullptr) {
      Fatal(value.line(), "invalid map key: not a scalar");
    } else {
      frame.key = value.ToJson();
    }
  }

  void Merge(Frame& frame, const ConfigValue& value) {
    if (value.map() != nullptr) {
      frame.map.insert(frame.map.end(), value.map()->begin(), value.map()->end());
      return;
    }
    const bool all_maps =
        value.list() != nullptr &&
        std::all_of(value.list()->begin(), value.list()->end(),
                    [](const ConfigValue& element) { return element.map() != nullptr; });
    if (!all_maps)
      return Fatal(value.line(), "map merge requires map or sequence of maps as the value");
    for (const ConfigValue& element : *value.list()) Merge(frame, element);
  }

  const YamlVisitor& visit_;
  const YamlProgress& progress_;
  size_t number_ = 0;             // of the document
  size_t told_ = 0;               // of the progress
  std::optional<Error> refusal_;  // by visit_
  std::vector<Frame> frames_;
  std::vector<std::optional<ConfigValue>> anchors_;  // by the parser's number; nullopt: unfinished
  int document_at_ = -1;                             // where the last document began
  size_t aliased_ = 0;
  std::vector<Problem> problems_;
  std::optional<Problem> fatal_;
};

// Where a character stands that YAML does not allow; npos: nowhere.
size_t FindControlCharacter(std::string_view text) {
  const auto is_control = [](char c) {
    return c == '\x7F' || (c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r');
  };
  const auto found = std::find_if(text.begin(), text.end(), is_control);
  return found == text.end() ? text.npos : static_cast<size_t>(found - text.begin());
}

}  // namespace

Result<void> ForEachYamlDocument(std::string_view text, std::string_view file_name,
                                 const YamlVisitor& visit, const YamlProgress& progress) {
  if (const size_t at = FindControlCharacter(text); at != text.npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
    return Fail(Builder::At(file_name, static_cast<int>(line)) +
                "yaml: control characters are not allowed");
  }
  Builder builder(visit, progress);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (!builder.failed() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::ParserException& error) {
    return Fail(Builder::At(file_name, Builder::LineOf(error.mark)) + "yaml: " + error.msg);
  } catch (const std::exception& error) {
    return Fail(std::string(file_name) + ": yaml: " + error.what());
  }
  return builder.Finish(file_name);
}

Result<std::vector<ConfigValue>> ParseYaml(std::string_view text, std::string_view file_name) {
  std::vector<ConfigValue> documents;
  const auto collect = [&documents](ConfigValue&& document, size_t) -> Result<void> {
    documents.push_back(std::move(document));
    return {};
  };
  if (auto read = ForEachYamlDocument(text, file_name, collect); !read) return Fail(read.error());
  return documents;
}

}  // namespace berth::documents
