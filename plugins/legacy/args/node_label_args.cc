// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/args/node_label_args.h"

#include <algorithm>

#include "berth/field_errors.h"
#include "plugins/shared/args_reader.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kPresent = "presentLabels";
constexpr std::string_view kAbsent = "absentLabels";
constexpr std::string_view kPresentPreference = "presentLabelsPreference";
constexpr std::string_view kAbsentPreference = "absentLabelsPreference";

void AddConflicts(const std::vector<std::string>& present, const std::string& present_path,
                  const std::vector<std::string>& absent, const std::string& absent_path,
                  std::vector<std::string>& problems) {
  for (size_t i = 0; i < absent.size(); ++i) {
    // The last one counts where a key stands twice.
    const auto at = std::find(present.rbegin(), present.rend(), absent[i]);
    if (at == present.rend()) continue;
    const auto index = static_cast<size_t>(present.rend() - at - 1);
    problems.push_back(InvalidField(IndexedPath(present_path, index), Quoted(absent[i]),
                                    "conflict with " + IndexedPath(absent_path, i)));
  }
}

std::vector<std::string> Problems(const NodeLabelArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  AddConflicts(args.present_labels, FieldPath(path, kPresent), args.absent_labels,
               FieldPath(path, kAbsent), problems);
  AddConflicts(args.present_labels_preference, FieldPath(path, kPresentPreference),
               args.absent_labels_preference, FieldPath(path, kAbsentPreference), problems);
  return problems;
}

Result<NodeLabelArgs> Read(const ConfigValue& value, const std::string& path) {
  NodeLabelArgs args;
  FieldReader fields(value, path);
  ReadTypeMeta(fields, "NodeLabel");
  fields.Read(kPresent, args.present_labels);
  fields.Read(kAbsent, args.absent_labels);
  fields.Read(kPresentPreference, args.present_labels_preference);
  fields.Read(kAbsentPreference, args.absent_labels_preference);
  if (auto error = fields.Finish()) return Fail(std::move(*error));
  return args;
}

}  // namespace

Result<NodeLabelArgs> ParseNodeLabelArgs(const ConfigValue& value) {
  auto args = Read(value, "");
  if (!args) return args;
  if (auto error = AggregateProblems(Problems(*args, ""))) return Fail(std::move(*error));
  return args;
}

std::vector<std::string> NodeLabelArgsProblems(const ConfigValue& args, const std::string& path,
                                               const ArgsFeatures&) {
  const auto read = Read(args, path);
  return read ? Problems(*read, path) : std::vector<std::string>{read.error().message};
}

}  // namespace berth::plugins
