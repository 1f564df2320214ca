// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/api/object.h"
#include "berth/config_value.h"
#include "berth/result.h"
#include "src/api/kinds.h"

// Reads cluster dumps: what `kubectl get ... -o json` or `-o yaml` prints.
namespace berth::documents {

// Counts the lines of a text, which is read once where what is asked for comes in order.
//
// Thread safety: one owner.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}
  // 1-based.
  int LineAt(size_t offset);

 private:
  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;  // there
};

// What an API server makes other fields of, so that no table has it; "": it is not there.
struct ManifestFields {
  std::string generate_name;       // metadata.generateName of an object without a name
  std::string runtime_class_name;  // spec.runtimeClassName
};
ManifestFields ManifestFieldsOf(const ConfigValue& object);

// Where a value of a dump stands; made for messages. Valid while the dump is being read.
class DumpPlace {
 public:
  // `lines` outlives this.
  DumpPlace(std::string_view file_name, size_t document, LineCounter& lines)
      : file_name_(file_name), document_(document), lines_(&lines) {}

  // "cluster.yaml:812: document 2, items[17]"; "line 812: document 2" where the file has no name.
  // In JSON the line is counted now, which reads the file from the place before up to there.
  std::string ToString() const;
  int line() const { return line_ != 0 ? line_ : lines_->LineAt(offset_); }
  size_t document() const { return document_; }  // 1-based
  // Of an object that no API server has stored.
  const ManifestFields& manifest() const { return manifest_; }
  // One index for each list around the value, the outermost first.
  const std::vector<size_t>& items() const { return items_; }

  // For the readers.
  void SetLine(int line) { line_ = line; }
  void SetOffset(size_t offset) {
    line_ = 0;
    offset_ = offset;
  }
  void SetManifest(ManifestFields fields) { manifest_ = std::move(fields); }
  void EnterItem() { items_.push_back(0); }
  void SetItem(size_t index) { items_.back() = index; }
  void LeaveItem() { items_.pop_back(); }

 private:
  std::string_view file_name_;
  size_t document_;
  LineCounter* lines_;
  std::vector<size_t> items_;
  int line_ = 0;  // 0: by the offset
  size_t offset_ = 0;
  ManifestFields manifest_;
};

struct DumpStats {
  uint64_t documents = 0;  // that are not empty
  uint64_t objects = 0;    // that were visited
  // How many objects there were of kinds that Berth does not read, by "Secret" or
  // "Deployment.apps", with the group where there is one.
  std::map<std::string, uint64_t> skipped;
  bool has_yaml = false;  // not all of it is JSON
  // One for each object that was skipped: in a version that Berth does not read, or no object of
  // Kubernetes.
  std::vector<std::string> warnings;
  // What was read as kubectl reads it, though it may be a mistake: keys that stand twice in a map,
  // and fields that the API does not have, in objects that no API server has stored.
  std::vector<std::string> remarks;

  friend bool operator==(const DumpStats&, const DumpStats&) = default;
};

// Takes one object over. A failure ends the reading.
using DumpVisitor = std::function<Result<void>(api::ObjectPtr&& object, const DumpPlace& place)>;
// Takes objects as trees, whether Berth has tables for their kinds or not: after the visitor, and
// instead of being skipped.
struct DumpTrees {
  // Whether objects of that type are wanted; empty: none are.
  std::function<bool(const api::TypeMeta& type)> wants = nullptr;
  // Of kinds that Berth reads, too, also those that an API server has stored.
  bool stored_too = false;
  // False: the object counts as skipped, if Berth does not read its kind. A failure ends the
  // reading.
  std::function<Result<bool>(const ConfigValue& object, const api::TypeMeta& type, bool stored,
                             const DumpPlace& place)>
      visit = nullptr;
};
// Called now and then with the number of bytes that have been read, roughly.
using DumpProgress = std::function<void(size_t bytes)>;

// Hands out the objects of a dump that are of kinds which an api::ObjectPtr can hold, in file
// order. Nothing is defaulted.
//
// JSON or YAML, or one after the other, as kubectl reads files: JSON values in a row, then
// documents of YAML, from the first one on that is no JSON. A document is an object or a list;
// lists may hold lists, and what stands in a typed list (PodList) has that type where it states
// none. Other kinds are skipped and counted, and so are kinds of the same name in another API group
// (Knative's Service). What stands in a list and is no object, and what states no kind or
// apiVersion, is skipped with a warning. Of a key that stands twice in a map the last one counts.
//
// Errors name the place and, inside an object, the field: "c.json:9: document 1, items[3]:
// spec.priority: ...". They are bad syntax, text that ends too early, a document that is no object,
// and what `visit` says, with the place put before it. Fields that cannot be read cost nothing
// else: they are in the object's metadata.damage.
//
// JSON is read in one pass, one object in memory at a time; a document of YAML is built whole.
//
// Thread safety: any thread.
Result<DumpStats> ReadDump(std::string_view text, std::string_view file_name,
                           const DumpVisitor& visit, const DumpProgress& progress = nullptr,
                           const DumpTrees& trees = {});

// What an object says it is; "" where it does not. Errors: it is no object, or says it in no
// string.
Result<api::TypeMeta> StatedTypeOf(const ConfigValue& value);

// Whether objects of that type are among those that ReadDump() hands out.
bool IsRead(const api::TypeMeta& type);

// One object of those kinds, out of a document that holds it. `kind` is what it is where it states
// neither kind nor apiVersion; "": it must state both. Nothing is defaulted. Errors: as above, with
// the field's path, which begins with `path`; also fields that cannot be read, and a kind or
// version that Berth does not read.
Result<api::ObjectPtr> ReadObject(const ConfigValue& value, std::string_view path,
                                  std::string_view kind = "");

}  // namespace berth::documents
