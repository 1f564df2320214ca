// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/cluster_files.h"

#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "berth/field_errors.h"
#include "src/api/kinds.h"
#include "src/base/file.h"
#include "src/base/string_map.h"
#include "src/documents/dump_reader.h"
#include "src/informers/kinds.h"
#include "src/simulator/object_checks.h"

namespace berth::simulator {
namespace {

using StringSet = absl::flat_hash_set<std::string, base::StringHash, std::equal_to<>>;

template <typename T, typename... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<T, Kinds> || ...);
template <typename T>
constexpr bool kClusterScoped =
    kIsOneOf<T, api::Node, api::Namespace, api::PersistentVolume, api::StorageClass, api::CSINode,
             api::CSIDriver, api::VolumeAttachment, api::VolumeAttributesClass, api::DeviceClass,
             api::ResourceSlice, api::DeviceTaintRule>;

// `object` with what is missing filled in; itself where nothing is.
template <typename T>
std::shared_ptr<const T> Completed(std::shared_ptr<const T> object) {
  const std::string namespace_ = kClusterScoped<T> ? ""
                                 : object->metadata.namespace_.empty()
                                     ? "default"
                                     : object->metadata.namespace_;
  bool complete = object->metadata.namespace_ == namespace_ && !object->metadata.uid.empty();
  if constexpr (std::is_same_v<T, api::Pod>) {
    complete = complete && !object->spec.scheduler_name.empty();
  }
  if (complete) return object;
  auto copy = std::make_shared<T>(*object);
  copy->metadata.namespace_ = namespace_;
  if (copy->metadata.uid.empty()) {
    copy->metadata.uid = std::string(api::KindOf<T>::kKind) + "/" + copy->metadata.Key();
  }
  if constexpr (std::is_same_v<T, api::Pod>) {
    if (copy->spec.scheduler_name.empty()) copy->spec.scheduler_name = "default-scheduler";
  }
  return copy;
}

api::ObjectPtr Complete(api::ObjectPtr&& object) {
  return std::visit(
      [](auto&& held) -> api::ObjectPtr {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return held;
        } else {
          return Completed(std::forward<decltype(held)>(held));
        }
      },
      std::move(object));
}

// The object as the cluster's API server would hold it. Errors: it would refuse it.
Result<api::ObjectPtr> Admit(api::ObjectPtr&& read) {
  if (informers::MetaOf(read)->name.empty()) {
    return Fail(RequiredField("metadata.name", "an object of a cluster has a name"));
  }
  api::ObjectPtr object = Complete(std::move(read));
  if (auto problem = FindBadSelector(object)) return Fail(*std::move(problem));
  return object;
}

// Dumps of large clusters are gigabytes.
constexpr size_t kMostDumpBytes = size_t{16} << 30;

// Takes the objects of all files in and checks them against each other.
//
// Thread safety: one owner.
class Loader {
 public:
  Result<void> Read(const std::string& file, const LoadProgress& progress) {
    const auto text = base::ReadFile(file, kMostDumpBytes);
    if (!text) return Fail(text.error());
    const auto stats = documents::ReadDump(
        *text, file,
        [this](api::ObjectPtr&& object, const documents::DumpPlace&) {
          return Add(std::move(object));
        },
        [&](size_t bytes) {
          if (progress) progress(bytes, text->size());
        });
    if (!stats) return Fail(stats.error());
    for (const auto& [kind, count] : stats->skipped) skipped_[kind] += count;
    return {};
  }

  Result<void> CheckNodesOfPods(const std::vector<std::string>& files) const {
    for (const api::ObjectPtr& object : pods_) {
      const api::Pod& pod = *api::As<api::Pod>(object);
      if (pod.spec.node_name.empty() || nodes_by_name_.contains(pod.spec.node_name)) continue;
      return Fail(UnknownNode(files));
    }
    return {};
  }

  Cluster Take() && {
    Cluster cluster;
    cluster.objects = std::move(nodes_);
    for (auto* group : {&others_, &pods_}) {
      cluster.objects.insert(cluster.objects.end(), std::make_move_iterator(group->begin()),
                             std::make_move_iterator(group->end()));
    }
    cluster.skipped = std::move(skipped_);
    return cluster;
  }

  Result<void> Add(api::ObjectPtr&& read) {
    auto admitted = Admit(std::move(read));
    if (!admitted) return Fail(admitted.error());
    api::ObjectPtr object = *std::move(admitted);
    const std::string key = informers::MetaOf(object)->Key();
    if (!names_.insert(std::to_string(object.index()) + "/" + key).second) {
      return Fail(DuplicateField("metadata.name", Quoted(key)));
    }
    if (const auto* node = api::As<api::Node>(object)) {
      nodes_by_name_.insert(node->metadata.name);
      nodes_.push_back(std::move(object));
    } else if (const auto* pod = api::As<api::Pod>(object)) {
      if (!pod_uids_.insert(pod->metadata.uid).second) {
        return Fail(DuplicateField("metadata.uid", Quoted(pod->metadata.uid)));
      }
      // These have given their room back.
      if (pod->status.phase == "Succeeded" || pod->status.phase == "Failed") return {};
      pods_.push_back(std::move(object));
    } else {
      others_.push_back(std::move(object));
    }
    return {};
  }

 private:
  // Places are not kept for thousands of pods, so the files are read once more to name this one.
  Error UnknownNode(const std::vector<std::string>& files) const {
    for (const std::string& file : files) {
      const auto text = base::ReadFile(file, kMostDumpBytes);
      if (!text) return text.error();
      const auto stats = documents::ReadDump(
          *text, file,
          [this](api::ObjectPtr&& object, const documents::DumpPlace&) -> Result<void> {
            const auto* pod = api::As<api::Pod>(object);
            if (pod == nullptr || pod->spec.node_name.empty() || pod->status.phase == "Succeeded" ||
                pod->status.phase == "Failed" || nodes_by_name_.contains(pod->spec.node_name)) {
              return {};
            }
            return Fail("spec.nodeName: Not found: " + Quoted(pod->spec.node_name));
          });
      if (!stats) return stats.error();
    }
    return {"a pod is on a node that is not there"};
  }

  std::vector<api::ObjectPtr> nodes_;
  std::vector<api::ObjectPtr> others_;
  std::vector<api::ObjectPtr> pods_;
  StringSet names_;  // kind and key
  StringSet nodes_by_name_;
  StringSet pod_uids_;
  std::map<std::string, uint64_t> skipped_;
};

}  // namespace

Result<Cluster> LoadCluster(const std::vector<std::string>& files, const LoadProgress& progress) {
  Loader loader;
  for (const std::string& file : files) {
    if (auto read = loader.Read(file, progress); !read) return Fail(read.error());
  }
  if (auto checked = loader.CheckNodesOfPods(files); !checked) return Fail(checked.error());
  return std::move(loader).Take();
}

Result<api::ObjectPtr> ReadObject(const ConfigValue& value, std::string_view path,
                                  std::string_view kind) {
  auto read = documents::ReadObject(value, path, kind);
  if (!read) return read;
  auto admitted = Admit(*std::move(read));
  if (!admitted) return Fail(admitted.error().Within(path));
  return admitted;
}

Result<std::shared_ptr<const api::Pod>> ReadPod(const ConfigValue& value, std::string_view path) {
  auto object = ReadObject(value, path, api::KindOf<api::Pod>::kKind);
  if (!object) return Fail(object.error());
  auto* pod = std::get_if<std::shared_ptr<const api::Pod>>(&*object);
  if (pod == nullptr) return Fail(Error{"must be a pod"}.Within(path));
  return std::move(*pod);
}

Result<std::vector<api::ObjectPtr>> ReadObjects(const ConfigValue::List& values,
                                                std::string_view path) {
  Loader loader;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string place = std::string(path) + "[" + std::to_string(i) + "]";
    auto read = documents::ReadObject(values[i], place);
    if (!read) return Fail(read.error());
    if (auto added = loader.Add(*std::move(read)); !added) {
      return Fail(added.error().Within(place));
    }
  }
  return std::move(loader).Take().objects;
}

}  // namespace berth::simulator
