// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/config_value.h"
#include "src/documents/parse.h"

namespace berth::documents {

// Where the values are that have an anchor. They stay in the tree: a copy of each would make
// anchors within anchors cost their number times their content.
//
// A collection that has an anchor, or has one inside, is known by the path to it: an index in its
// parent once it has ended, its depth among the open ones until then.
//
// Thread safety: one owner.
class YamlAnchors {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  void Clear() {
    values_.clear();
    collections_.clear();
    detached_.clear();
  }

  // A scalar is small, and a key is no value of the tree.
  void SetScalar(YAML::anchor_t anchor, const ConfigValue& value) { At(anchor).scalar = value; }
  // The collection is open; its value is known once it has ended.
  void SetCollection(YAML::anchor_t anchor, size_t collection) {
    At(anchor).collection = collection;
  }

  // A collection `depth` deep among the open ones, in `parent`, or kNone.
  size_t Open(size_t parent, size_t depth) {
    collections_.push_back({parent, depth, true});
    return collections_.size() - 1;
  }
  // It has become the value at `index` of its parent.
  void Close(size_t collection, size_t index) {
    collections_[collection].index = index;
    collections_[collection].open = false;
  }
  // It has ended outside the tree: what << merges is no value of its map.
  void Detach(size_t collection, const ConfigValue& value) {
    collections_[collection] = {kNone, detached_.size(), false};
    detached_.push_back(value);
  }

  // The value of an anchor, or nullptr while that has not ended. `element_of_open` gives the value
  // at an index of the open collection of that depth.
  template <typename ElementOfOpen>
  const ConfigValue* Find(YAML::anchor_t anchor, const ElementOfOpen& element_of_open) const {
    if (anchor >= values_.size()) return nullptr;
    const Value& value = values_[anchor];
    if (value.scalar) return &*value.scalar;
    if (value.collection == kNone || collections_[value.collection].open) return nullptr;
    std::vector<size_t> path;
    const Collection* at = &collections_[value.collection];
    while (at->parent != kNone && !at->open) {
      path.push_back(at->index);
      at = &collections_[at->parent];
    }
    const ConfigValue* found = nullptr;
    if (at->open) {
      found = element_of_open(at->index, path.back());
      path.pop_back();
    } else {
      found = &detached_[at->index];
    }
    for (; !path.empty(); path.pop_back()) {
      found = found->list() != nullptr ? &(*found->list())[path.back()]
                                       : &(*found->map())[path.back()].second;
    }
    return found;
  }

 private:
  struct Value {
    std::optional<ConfigValue> scalar;
    size_t collection = kNone;
  };
  struct Collection {
    size_t parent = kNone;
    size_t index = 0;  // in the parent, in detached_, or the depth of an open one
    bool open = true;
  };

  Value& At(YAML::anchor_t anchor) {
    if (values_.size() <= anchor) values_.resize(anchor + 1);
    return values_[anchor];
  }

  std::vector<Value> values_;  // by the parser's number
  std::vector<Collection> collections_;
  std::vector<ConfigValue> detached_;
};

// Builds documents out of the parser's events. After the first fatal problem it ignores the rest.
// What copies may add to a file, by aliases and by maps that << merges, is bounded: a few lines can
// ask for billions of values.
//
// Thread safety: one owner.
class YamlBuilder final : public YAML::EventHandler {
 public:
  static constexpr size_t kMaxCopiedValues = 400'000;
  static constexpr size_t kMaxCopiedText = size_t{32} << 20;  // bytes of keys and strings

  // All outlive the builder.
  YamlBuilder(const YamlVisitor& visit, const YamlProgress& progress, const YamlOptions& options)
      : visit_(visit),
        progress_(progress),
        options_(options),
        number_(options.first_document - 1) {}

  // The end of it all: what was wrong, with the file's name and the line.
  Result<void> Finish(std::string_view file);
  // Nothing that is still to come matters.
  bool failed() const { return fatal_.has_value() || refusal_.has_value(); }
  bool done() const { return failed() || (options_.first_only && ended_ > 0); }

  // "file:line: ", "line N: " without a name.
  static std::string At(std::string_view file, int line);
  int LineOf(const YAML::Mark& mark) const { return mark.line + options_.first_line; }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override { ++ended_; }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { Close(); }

 private:
  struct Problem {
    int line = 0;
    std::string text;
  };
  enum class Collection { kSequence, kMap };
  // One that has begun and not ended.
  struct Frame {
    Collection collection = Collection::kSequence;
    int line = 0;
    size_t known_as = YamlAnchors::kNone;  // to anchors_
    ConfigValue::List list;
    ConfigValue::Map map;
    std::optional<std::string> key;  // its value comes next
    bool merging = false;            // the value of << comes next
    // Begin and end of the members that << merged, in order.
    std::vector<std::pair<size_t, size_t>> merged;
  };

  void Fatal(int line, std::string text) {
    if (!fatal_) fatal_ = Problem{line, std::move(text)};
  }
  // Whether a copy of the value is within the limits; it counts from then on.
  bool MayCopy(const ConfigValue& value, int line);
  void CountCopied(const ConfigValue& value);
  bool ExpectsKey() const;
  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, Collection collection);
  // The open collections have an anchor inside.
  void MakeKnown();
  void Close();
  // Puts a finished value where it belongs. `anchor` is a scalar's.
  void Add(ConfigValue value, YAML::anchor_t anchor);
  void SetKey(Frame& frame, const ConfigValue& value);
  void Merge(Frame& frame, const ConfigValue& value);
  // What is to be said of a map that has ended and has keys twice.
  void CheckRepeatedKeys(const Frame& frame);

  const YamlVisitor& visit_;
  const YamlProgress& progress_;
  const YamlOptions& options_;
  size_t number_;                 // of the document
  size_t told_ = 0;               // of the progress
  std::optional<Error> refusal_;  // by visit_
  std::vector<Frame> frames_;
  YamlAnchors anchors_;
  int document_at_ = -1;  // where the last document began
  size_t copied_values_ = 0;
  size_t copied_text_ = 0;
  size_t ended_ = 0;
  bool repeated_ = false;  // a key stands twice in a map of the document
  std::vector<Problem> problems_;
  std::optional<Problem> fatal_;
};

}  // namespace berth::documents
