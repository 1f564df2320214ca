// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/args/node_label_args.h"

#include <algorithm>

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

std::vector<std::string> NodeLabelProblems(const NodeLabelArgs& args, const std::string& path) {
  std::vector<std::string> problems;
  AddConflicts(args.present_labels, FieldPath(path, kPresent), args.absent_labels,
               FieldPath(path, kAbsent), problems);
  AddConflicts(args.present_labels_preference, FieldPath(path, kPresentPreference),
               args.absent_labels_preference, FieldPath(path, kAbsentPreference), problems);
  return problems;
}

NodeLabelArgs ReadNodeLabelArgs(FieldReader& fields) {
  NodeLabelArgs args;
  fields.Read(kPresent, args.present_labels);
  fields.Read(kAbsent, args.absent_labels);
  fields.Read(kPresentPreference, args.present_labels_preference);
  fields.Read(kAbsentPreference, args.absent_labels_preference);
  return args;
}

}  // namespace

constexpr ArgsKind<NodeLabelArgs> kNodeLabelArgs =
    MakeArgsKind<"NodeLabel", ReadNodeLabelArgs, NodeLabelProblems>();

}  // namespace berth::plugins
