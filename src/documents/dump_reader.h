// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/api/object.h"
#include "berth/config_value.h"
#include "berth/result.h"

// Reads cluster dumps: what `kubectl get ... -o json` or `-o yaml` prints.
namespace berth::documents {

// Where a value of a dump stands; made for messages. Valid while the dump is being read.
class DumpPlace {
 public:
  DumpPlace(std::string_view file_name, size_t document)
      : file_name_(file_name), document_(document) {}

  // "cluster.yaml:812: document 2, items[17]"; "line 812: document 2" where the file has no name.
  // In JSON the line is counted now, which reads the file up to there.
  std::string ToString() const;
  int line() const;
  size_t document() const { return document_; }  // 1-based
  // One index for each list around the value, the outermost first.
  const std::vector<size_t>& items() const { return items_; }

  // For the readers.
  void SetLine(int line) { line_ = line; }
  void SetOffset(std::string_view text, size_t offset);
  void EnterItem() { items_.push_back(0); }
  void SetItem(size_t index) { items_.back() = index; }
  void LeaveItem() { items_.pop_back(); }

 private:
  std::string_view file_name_;
  size_t document_;
  std::vector<size_t> items_;
  int line_ = 0;           // 0: by the offset
  std::string_view head_;  // of JSON, the text ahead of the value
};

struct DumpStats {
  uint64_t documents = 0;  // that are not empty
  uint64_t objects = 0;    // that were visited
  // How many objects there were of kinds that Berth does not read, by "Secret" or
  // "Deployment.apps", with the group where there is one.
  std::map<std::string, uint64_t> skipped;

  friend bool operator==(const DumpStats&, const DumpStats&) = default;
};

// Takes one object over. A failure ends the reading.
using DumpVisitor = std::function<Result<void>(api::ObjectPtr&& object, const DumpPlace& place)>;
// Told now and then how many bytes have been read, roughly.
using DumpProgress = std::function<void(size_t bytes)>;

// Hands out every pod, node, namespace, service, replication controller, replica set, stateful set
// and pod disruption budget of a dump, in file order. Nothing is defaulted.
//
// JSON (one value, or several in a row) or YAML (one document or several), told apart by the first
// character. A document is an object or a list; lists may hold lists, and what stands in a typed
// list (PodList) has that type where it states none. Other kinds are skipped and counted, and so
// are kinds of the same name in another API group (Knative's Service).
//
// Errors name the place and, inside an object, the field: "c.json:9: document 1, items[3]:
// spec.priority: ...". They are bad syntax, text that ends too early, what is no object or states
// no kind or apiVersion, a kind that Berth reads in a version it does not read, fields as in
// src/api/decode.h, and what `visit` says, with the place put before it.
//
// JSON is read in one pass, one object in memory at a time; a document of YAML is built whole.
//
// Thread safety: any thread.
Result<DumpStats> ReadDump(std::string_view text, std::string_view file_name,
                           const DumpVisitor& visit, const DumpProgress& progress = nullptr);

// One object of those kinds, out of a document that holds it. `kind` is what it is where it states
// neither kind nor apiVersion; "": it must state both. Nothing is defaulted. Errors: as above, with
// the field's path, which begins with `path`; also a kind that Berth does not read.
Result<api::ObjectPtr> ReadObject(const ConfigValue& value, std::string_view path,
                                  std::string_view kind = "");

}  // namespace berth::documents
