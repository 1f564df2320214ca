// SPDX-License-Identifier: Apache-2.0
#include "src/simulator/cluster_files.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "berth/field_errors.h"
#include "berth/plugin_kinds.h"
#include "berth/result.h"
#include "src/api/kinds.h"
#include "src/base/file.h"
#include "src/base/string_map.h"
#include "src/documents/dump_reader.h"
#include "src/documents/known_fields.h"
#include "src/informers/kinds.h"
#include "src/simulator/memory_api.h"
#include "src/simulator/missing_references.h"
#include "src/simulator/object_checks.h"

namespace berth::simulator {
namespace {

constexpr std::string_view kStandardInput = "-";
// Dumps of large clusters are gigabytes.
constexpr size_t kMostInputBytes = size_t{16} << 30;

Result<void> AddFilesOfFolder(const std::string& folder, std::vector<std::string>& out) {
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  const size_t before = out.size();
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string ending = at->path().extension().string();
    if (ending != ".json" && ending != ".yaml" && ending != ".yml") continue;
    if (!at->is_directory(error)) out.push_back(at->path().string());
  }
  if (error) return Fail("open " + folder + ": " + error.message());
  if (out.size() == before)
    return Fail(folder + ": the folder has no file that ends in .json, .yaml or .yml");
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
  return {};
}

// Appends a code point as UTF-8.
void AppendRune(uint32_t rune, std::string& out) {
  const auto rest = [&](int shift) { out += static_cast<char>(0x80 | ((rune >> shift) & 0x3F)); };
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xC0 | (rune >> 6));
    rest(0);
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xE0 | (rune >> 12));
    rest(6);
    rest(0);
  } else {
    out += static_cast<char>(0xF0 | (rune >> 18));
    rest(12);
    rest(6);
    rest(0);
  }
}

// As Windows' PowerShell writes files: UTF-16 after a byte order mark. What is no pair of
// surrogates becomes U+FFFD. Any other text stays as it is.
std::string ToUtf8(std::string&& text) {
  const bool little = text.starts_with("\xFF\xFE");
  if (!little && !text.starts_with("\xFE\xFF")) return std::move(text);
  const auto unit = [&](size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    const auto second = static_cast<unsigned char>(text[at + 1]);
    return static_cast<uint32_t>(little ? second << 8 | first : first << 8 | second);
  };
  constexpr uint32_t kReplacement = 0xFFFD;
  std::string out;
  out.reserve(text.size() / 2);
  for (size_t at = 2; at < text.size(); at += 2) {
    uint32_t rune = at + 1 < text.size() ? unit(at) : kReplacement;
    if (rune >= 0xD800 && rune < 0xE000) {
      const uint32_t low = at + 3 < text.size() ? unit(at + 2) : 0;
      const bool pair = rune < 0xDC00 && low >= 0xDC00 && low < 0xE000;
      rune = pair ? 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00) : kReplacement;
      if (pair) at += 2;
    }
    AppendRune(rune, out);
  }
  return out;
}

// What a list with commas names; one name where a file has it, commas and all.
std::vector<std::string> NamesOf(const std::string& argument) {
  std::error_code none;
  if (argument.find(',') == std::string::npos || std::filesystem::exists(argument, none))
    return {argument};
  return absl::StrSplit(argument, ',', absl::SkipEmpty());
}

// The files of LoadCluster()'s arguments.
Result<std::vector<std::string>> InputFiles(const std::vector<std::string>& lists) {
  std::vector<std::string> arguments;
  for (const std::string& list : lists)
    std::ranges::move(NamesOf(list), std::back_inserter(arguments));
  if (std::count(arguments.begin(), arguments.end(), kStandardInput) > 1)
    return Fail("the standard input (-) can be read once only");
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code none;
    if (argument == kStandardInput || !std::filesystem::is_directory(argument, none)) {
      files.push_back(argument);
    } else if (auto added = AddFilesOfFolder(argument, files); !added) {
      return Fail(added.error());
    }
  }
  return files;
}

// The text of one of them, as UTF-8 also where a byte order mark says UTF-16. Errors:
// base::ReadFile()'s.
Result<std::string> ReadInput(const std::string& file) {
  auto text = file == kStandardInput ? base::ReadStandardInput(kMostInputBytes)
                                     : base::ReadFile(file, kMostInputBytes);
  if (!text) return text;
  return ToUtf8(*std::move(text));
}

// What messages call one of them.
std::string InputName(const std::string& file) {
  return file == kStandardInput ? "standard input" : file;
}

constexpr std::string_view kDefaultNamespace = "default";

using StringSet = absl::flat_hash_set<std::string, base::StringHash, std::equal_to<>>;
template <typename T>
using StringMap = absl::flat_hash_map<std::string, T, base::StringHash, std::equal_to<>>;

// How a kind names its objects.
struct Naming {
  std::string_view kind;
  bool cluster_scoped;
  std::string_view group = {};  // where it tells kinds of one name apart
};

template <typename T, typename... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<T, Kinds> || ...);

Naming NamingOf(const api::ObjectPtr& object) {
  return std::visit(
      []<typename Held>(const Held& held) -> Naming {
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<Held, std::shared_ptr<const api::PluginObject>>) {
          const api::PluginKind& kind = PluginKinds()[held->kind];
          return {kind.kind, !kind.namespaced, kind.group};
        } else {
          using T = std::remove_const_t<typename Held::element_type>;
          // Two kinds are called PodGroup.
          constexpr bool kNamesake = std::is_same_v<T, api::CoschedulingPodGroup>;
          return {api::KindOf<T>::kKind,
                  kIsOneOf<T, api::Node, api::Namespace, api::PersistentVolume, api::StorageClass,
                           api::CSINode, api::CSIDriver, api::VolumeAttachment,
                           api::VolumeAttributesClass, api::DeviceClass, api::ResourceSlice,
                           api::DeviceTaintRule, api::NodeResourceTopology>,
                  kNamesake ? "scheduling.x-k8s.io" : ""};
        }
      },
      object);
}

// `object` with what is missing filled in; itself where nothing is.
api::ObjectPtr Complete(api::ObjectPtr&& object,
                        std::string_view default_namespace = kDefaultNamespace) {
  const api::ObjectMeta* known = api::MetaOf(object);
  if (known == nullptr) return std::move(object);
  const Naming naming = NamingOf(object);
  const std::string namespace_ = naming.cluster_scoped        ? ""
                                 : !known->namespace_.empty() ? known->namespace_
                                                              : std::string(default_namespace);
  if (known->namespace_ != namespace_ || known->uid.empty()) {
    object = api::WithMeta(object, [&](api::ObjectMeta& meta) {
      meta.namespace_ = namespace_;
      if (!meta.uid.empty()) return;
      meta.uid = naming.kind;
      if (!naming.group.empty()) meta.uid.append(".").append(naming.group);
      meta.uid.append("/").append(meta.Key());
    });
  }
  const auto* pod = api::As<api::Pod>(object);
  if (pod == nullptr || !pod->spec.scheduler_name.empty()) return std::move(object);
  auto copy = std::make_shared<api::Pod>(*pod);
  copy->spec.scheduler_name = "default-scheduler";
  return copy;
}

// A manifest with the API server's defaults; what is no pod and no node is left as it is.
api::ObjectPtr Defaulted(api::ObjectPtr&& read, const documents::ManifestFields& fields) {
  if (const auto* pod = api::As<api::Pod>(read))
    return WithDefaults(*pod, fields.runtime_class_name);
  const auto* node = api::As<api::Node>(read);
  if (node == nullptr || !node->status.allocatable.empty() || node->status.capacity.empty())
    return std::move(read);
  auto defaulted = std::make_shared<api::Node>(*node);
  defaulted->status.allocatable = defaulted->status.capacity;
  return std::shared_ptr<const api::Node>(std::move(defaulted));
}

// The object with another name.
api::ObjectPtr Renamed(const api::ObjectPtr& object, const std::string& name) {
  return api::WithMeta(object, [&name](api::ObjectMeta& meta) { meta.name = name; });
}

// Why the object has no name; nullptr: it has one, or states none.
const api::FieldDamage* DamageOfName(const api::ObjectMeta& meta) {
  if (!meta.name.empty() || !meta.damage) return nullptr;
  const auto found = std::ranges::find_if(*meta.damage, [](const api::FieldDamage& damage) {
    return damage.path == "metadata.name" || damage.path == "metadata";
  });
  return found == meta.damage->end() ? nullptr : &*found;
}

// Whether no API server has stored the object.
bool IsManifest(const api::ObjectPtr& object) { return api::MetaOf(object)->uid.empty(); }

// The object as the cluster's API server holds it. Errors: it has no name.
Result<api::ObjectPtr> Stored(api::ObjectPtr&& read,
                              std::string_view default_namespace = kDefaultNamespace) {
  if (api::MetaOf(read)->name.empty()) {
    return Fail(RequiredField("metadata.name", "an object of a cluster has a name"));
  }
  return Complete(std::move(read), default_namespace);
}

// The same of an object that is new. Errors: the API server would refuse it.
Result<api::ObjectPtr> Admit(api::ObjectPtr&& read) {
  const bool manifest = IsManifest(read);
  auto object = Stored(std::move(read));
  if (!object) return object;
  if (manifest) {
    if (auto problem = FindBadValue(*object)) return Fail(*std::move(problem));
  }
  if (auto problem = FindBadSelector(*object)) return Fail(*std::move(problem));
  return object;
}

// Sorts the pods that have no node by their creation, in the places that they take together.
void SortPendingByCreation(std::vector<api::ObjectPtr>& pods) {
  const auto pod_of = [](const api::ObjectPtr& object) { return api::As<api::Pod>(object); };
  std::vector<size_t> places;
  for (size_t i = 0; i < pods.size(); ++i) {
    if (pod_of(pods[i]) != nullptr && pod_of(pods[i])->spec.node_name.empty()) places.push_back(i);
  }
  std::vector<api::ObjectPtr> pending;
  pending.reserve(places.size());
  for (const size_t place : places) pending.push_back(std::move(pods[place]));
  std::ranges::stable_sort(
      pending, CreatedBefore,
      [](const api::ObjectPtr& pod) -> const api::ObjectMeta& { return *api::MetaOf(pod); });
  for (size_t i = 0; i < places.size(); ++i) pods[places[i]] = std::move(pending[i]);
}

// Whether an API server has stored the object.
bool IsStoredTree(const ConfigValue& object) {
  const ConfigValue* metadata = object.Find("metadata");
  const ConfigValue* uid = metadata == nullptr ? nullptr : metadata->Find("uid");
  return uid != nullptr && uid->string() != nullptr && !uid->string()->empty();
}

// A manifest with that namespace where it names none.
ConfigValue InNamespace(const ConfigValue& object, const std::string& namespace_) {
  ConfigValue::Map members = object.map() == nullptr ? ConfigValue::Map() : *object.map();
  ConfigValue::Map metadata;
  for (auto& [name, value] : members) {
    if (name == "metadata" && value.map() != nullptr) metadata = *value.map();
  }
  for (const auto& [name, value] : metadata) {
    if (name == "namespace" && value.string() != nullptr && !value.string()->empty()) return object;
  }
  std::erase_if(metadata, [](const auto& member) { return member.first == "namespace"; });
  metadata.emplace_back("namespace", ConfigValue(namespace_));
  std::erase_if(members, [](const auto& member) { return member.first == "metadata"; });
  members.emplace_back("metadata", ConfigValue(std::move(metadata)));
  return ConfigValue(std::move(members), object.line());
}

// Takes the objects of all files in and checks them against each other.
//
// Thread safety: one owner.
class Loader {
 public:
  // What the objects come from: all that is new counts as a manifest.
  enum class From { kCluster, kQuestion };

  explicit Loader(From from, std::string_view default_namespace = kDefaultNamespace)
      : from_(from), default_namespace_(default_namespace) {}

  Result<void> Read(const std::string& file, const LoadProgress& progress) {
    const auto text = ReadInput(file);
    if (!text) return Fail(text.error());
    documents::DumpTrees trees;
    trees.wants = [](const api::TypeMeta& type) {
      return IsPodController(type) || IsOfAdmission(type);
    };
    trees.stored_too = true;
    trees.visit = [this](const ConfigValue& object, const api::TypeMeta& type, bool stored,
                         const documents::DumpPlace& place) -> Result<bool> {
      // The pods of what is stored are there.
      if (stored && from_ == From::kCluster && IsPodController(type)) {
        KeepIfIdle(object, type);
        return false;
      }
      auto taken = AddTree(object, type, "");
      if (taken) return taken;
      warnings_.push_back(place.ToString() + ": " + taken.error().message +
                          (from_ == From::kCluster ? "; the object is left out" : ""));
      return true;
    };
    const auto stats = documents::ReadDump(
        *text, InputName(file),
        [this](api::ObjectPtr&& object, const documents::DumpPlace& place) -> Result<void> {
          AddStored(std::move(object), place);
          return {};
        },
        [&](size_t bytes) {
          if (progress) progress(bytes, text->size());
        },
        trees);
    if (!stats) return Fail(stats.error());
    for (const auto& [kind, count] : stats->skipped) skipped_[kind] += count;
    warnings_.insert(warnings_.end(), stats->warnings.begin(), stats->warnings.end());
    remarks_.insert(remarks_.end(), stats->remarks.begin(), stats->remarks.end());
    return {};
  }

  void LeaveOutPodsOfUnknownNodes() {
    for (api::ObjectPtr& object : pods_) {
      const api::Pod* pod = api::As<api::Pod>(object);
      if (pod == nullptr || pod->spec.node_name.empty() || HasNode(pod->spec.node_name)) continue;
      warnings_.push_back("pod " + pod->metadata.Key() +
                          " is left out: spec.nodeName: Not found: " + Quoted(pod->spec.node_name));
      object = {};
    }
  }

  // Of a cluster: makes the pods of controllers, and admits manifests of pods. Errors: those are
  // too many.
  Result<void> Expand() {
    PodMaker maker;
    for (const auto* group : {&nodes_, &others_, &pods_}) {
      for (const api::ObjectPtr& object : *group) maker.See(object);
    }
    maker.Name(controllers_);
    for (const PodController& controller : controllers_) {
      if (controller.pods == 0) idle_.push_back(controller);
      auto made = maker.Make(controller);
      if (!made) return Fail(made.error());
      ++expanded_[controller.kind];
      for (api::ObjectPtr& object : *made) {
        if (api::As<api::Pod>(object) != nullptr) manifests_.insert(NameOf(object));
        // Names are free, but a ReplicaSet may be that of an earlier file.
        if (!places_.contains(NameOf(object))) Add(Complete(std::move(object)));
      }
    }
    controllers_.clear();
    AdmitManifests();
    return {};
  }

  // A controller's manifest, or what admission goes by; false: it makes no pods.
  Result<bool> AddTree(const ConfigValue& stated, const api::TypeMeta& type,
                       std::string_view path) {
    if (default_namespace_ != kDefaultNamespace) moved_ = InNamespace(stated, default_namespace_);
    const ConfigValue& object = default_namespace_ == kDefaultNamespace ? stated : moved_;
    if (IsOfAdmission(type)) {
      if (auto read = ReadAdmissionObject(object, type.kind, path, admission_); !read)
        return Fail(read.error());
      return true;
    }
    auto read = ReadPodController(object, type, path);
    if (!read) return Fail(read.error());
    if (!*read && from_ == From::kQuestion && !IsStoredTree(object)) {
      // What it makes is what is asked; a dump's own has no template.
      const Error missing{MissingContainers(object, type)};
      return Fail(path.empty() ? missing : missing.Within(path));
    }
    if (!*read) return false;
    const auto is_same = [&](const PodController& other) {
      return !other.metadata.name.empty() && other.kind == (*read)->kind &&
             other.metadata.Key() == (*read)->metadata.Key();
    };
    // The last one counts, as where both are applied.
    std::erase_if(controllers_, is_same);
    controllers_.push_back(**std::move(read));
    return true;
  }

  NewObjects TakeNew() && {
    NewObjects taken;
    taken.controllers = controllers_;
    taken.admission = admission_;
    taken.generated_pods = generated_pods_;
    taken.objects = std::move(*this).Take().objects;
    return taken;
  }

  Cluster Take() && {
    SortPendingByCreation(pods_);
    Cluster cluster;
    cluster.controllers = std::move(controllers_);
    cluster.idle = std::move(idle_);
    cluster.generated_pods = std::move(generated_pods_);
    cluster.expanded = std::move(expanded_);
    cluster.admission = std::move(admission_);
    cluster.objects.reserve(nodes_.size() + others_.size() + pods_.size());
    for (auto* group : {&nodes_, &others_, &pods_}) {
      for (api::ObjectPtr& object : *group) {
        if (object.index() != 0) cluster.objects.push_back(std::move(object));
      }
    }
    cluster.ended_pods = ended_pods_;
    cluster.ended = std::move(ended_);
    cluster.skipped = std::move(skipped_);
    cluster.warnings = std::move(warnings_);
    cluster.remarks = std::move(remarks_);
    return cluster;
  }

  // An object that a question brings. Errors: also one that is there already.
  Result<void> AddNew(api::ObjectPtr&& read, const documents::ManifestFields& fields) {
    auto object = Admit(Named(Defaulted(std::move(read), fields), fields.generate_name));
    if (!object) return Fail(object.error());
    const std::string key = api::MetaOf(*object)->Key();
    if (places_.contains(NameOf(*object)))
      return Fail(DuplicateField("metadata.name", Quoted(key)));
    if (const api::Pod* other = PodOfUid(*object))
      return Fail(DuplicateField("metadata.uid", Quoted(other->metadata.uid)));
    Add(*std::move(object));
    return {};
  }

 private:
  // Of a stored workload that has no pods: one that is asked to have some makes them of its
  // template.
  void KeepIfIdle(const ConfigValue& object, const api::TypeMeta& type) {
    if (!HasNoReplicas(object)) return;
    if (auto stored = ReadStored(object, type)) idle_.push_back(*std::move(stored));
  }

  // Where an object is kept; in none of the groups where it has ended.
  struct Place {
    std::vector<api::ObjectPtr>* group = nullptr;
    size_t index = 0;
  };

  // With a name that is free, where it has none and asks for one.
  api::ObjectPtr Named(api::ObjectPtr&& object, const std::string& generate_name) {
    if (generate_name.empty() || !api::MetaOf(object)->name.empty()) return std::move(object);
    while (true) {
      api::ObjectPtr named = Renamed(object, generate_name + std::to_string(++generated_));
      const api::ObjectPtr stored = Complete(api::ObjectPtr(named), default_namespace_);
      if (places_.contains(NameOf(stored))) continue;
      if (api::As<api::Pod>(stored) != nullptr)
        generated_pods_[api::MetaOf(stored)->Key()] = generate_name;
      return named;
    }
  }

  // Manifests of pods as admission leaves them.
  void AdmitManifests() {
    Admission admission;
    admission.Add(admission_);
    for (const api::ObjectPtr& object : pods_) {
      if (const auto* pod = api::As<api::Pod>(object)) admission.See(*pod);
    }
    std::set<std::string> runtime_classes;
    for (api::ObjectPtr& object : pods_) {
      const auto* pod = api::As<api::Pod>(object);
      if (pod == nullptr || !manifests_.contains(NameOf(object))) continue;
      runtime_classes.emplace(NotedRuntimeClass(*pod));
      std::vector<Admission::Refusal> refusals;
      auto admitted = admission.Admit(*pod, refusals);
      for (const Admission::Refusal& refusal : refusals) {
        warnings_.push_back("pod " + pod->metadata.Key() + ": " + refusal.why + "; " +
                            refusal.otherwise);
      }
      object = std::move(admitted);
    }
    std::ranges::move(MissingRuntimeClasses(std::move(runtime_classes), admission_),
                      std::back_inserter(warnings_));
  }

  void AddStored(api::ObjectPtr&& read, const documents::DumpPlace& place) {
    const auto warn = [&](std::string_view text) {
      warnings_.push_back(place.ToString() + ": " + std::string(text));
    };
    if (const api::FieldDamage* damage = DamageOfName(*api::MetaOf(read)))
      return warn(damage->ToString() + "; the object is left out");
    const bool manifest = from_ == From::kQuestion || IsManifest(read);
    if (manifest) {
      const documents::ManifestFields& fields = place.manifest();
      read = Named(Defaulted(std::move(read), fields), fields.generate_name);
    }
    auto stored = Stored(std::move(read), default_namespace_);
    if (!stored) return warn(stored.error().message + "; the object is left out");
    api::ObjectPtr object = *std::move(stored);
    if (const auto& damage = api::MetaOf(object)->damage) {
      api::ObjectPtr stands = informers::StandIn(object, {});
      const bool left_out = api::MetaOf(stands) == nullptr;
      warn(damage->front().ToString() + (left_out ? "; the object is left out" : ""));
      if (left_out) return;
      object = std::move(stands);
    }
    if (const auto problem = FindBadSelector(object)) warn(problem->message);
    if (manifest) {
      if (const auto problem = FindBadValue(object)) warn(problem->message);
    }
    if (const auto there = places_.find(NameOf(object)); there != places_.end()) {
      const Place& at = there->second;
      if (at.group == nullptr || !AreEqual((*at.group)[at.index], object)) {
        warn(DuplicateField("metadata.name", Quoted(api::MetaOf(object)->Key())) +
             "; the last one counts");
      }
      Remove(there->second);
    }
    if (const api::Pod* other = PodOfUid(object)) {
      warn(DuplicateField("metadata.uid", Quoted(other->metadata.uid)) + ", as of pod " +
           other->metadata.Key() + "; the object is left out");
      return;
    }
    if (manifest && api::As<api::Pod>(object) != nullptr) manifests_.insert(NameOf(object));
    Add(std::move(object));
  }

  // Its kind and key.
  static std::string NameOf(const api::ObjectPtr& object) {
    return std::to_string(static_cast<int>(KindOf(object))) + "/" + api::MetaOf(object)->Key();
  }
  bool HasNode(std::string_view name) const { return nodes_by_name_.contains(name); }
  // Another pod that has the uid of this one; nullptr where there is none, or it is no pod.
  const api::Pod* PodOfUid(const api::ObjectPtr& object) const {
    const auto* pod = api::As<api::Pod>(object);
    if (pod == nullptr) return nullptr;
    const auto found = pods_by_uid_.find(pod->metadata.uid);
    return found == pods_by_uid_.end() ? nullptr : found->second.get();
  }

  void Remove(Place& place) {
    if (place.group == nullptr) return;
    api::ObjectPtr& object = (*place.group)[place.index];
    if (const auto* pod = api::As<api::Pod>(object)) pods_by_uid_.erase(pod->metadata.uid);
    object = {};
    place.group = nullptr;
  }

  void Add(api::ObjectPtr&& object) {
    Place& place = places_[NameOf(object)];
    std::vector<api::ObjectPtr>* group = &others_;
    if (const auto* node = api::As<api::Node>(object)) {
      nodes_by_name_.insert(node->metadata.name);
      group = &nodes_;
    }
    if (const auto* pod = std::get_if<std::shared_ptr<const api::Pod>>(&object)) {
      // These have given their room back.
      const std::string& phase = (*pod)->status.phase;
      if (phase == "Succeeded" || phase == "Failed") {
        ++ended_pods_;
        ended_[(*pod)->metadata.Key()] = phase;
        return;
      }
      pods_by_uid_[(*pod)->metadata.uid] = *pod;
      group = &pods_;
    }
    place = {group, group->size()};
    group->push_back(std::move(object));
  }

  const From from_;
  const std::string default_namespace_;
  ConfigValue moved_;  // the last manifest that AddTree() gave a namespace
  std::vector<api::ObjectPtr> nodes_;
  std::vector<api::ObjectPtr> others_;
  std::vector<api::ObjectPtr> pods_;
  StringSet nodes_by_name_;
  StringMap<Place> places_;  // by kind and key
  StringMap<std::shared_ptr<const api::Pod>> pods_by_uid_;
  StringSet manifests_;  // of pods, as in places_
  std::vector<PodController> controllers_;
  std::vector<PodController> idle_;  // those of a cluster that have no pods
  AdmissionObjects admission_;
  std::map<std::string, uint64_t> expanded_;
  uint64_t generated_ = 0;  // names
  std::map<std::string, std::string> generated_pods_;
  uint64_t ended_pods_ = 0;
  std::map<std::string, std::string> ended_;  // their phases, by key
  std::map<std::string, uint64_t> skipped_;
  std::vector<std::string> warnings_;
  std::vector<std::string> remarks_;
};

}  // namespace

namespace {

Result<void> ReadAll(const std::vector<std::string>& files, const LoadProgress& progress,
                     Loader& loader) {
  const auto inputs = InputFiles(files);
  if (!inputs) return Fail(inputs.error());
  for (const std::string& file : *inputs) {
    if (auto read = loader.Read(file, progress); !read) return read;
  }
  return {};
}

}  // namespace

Result<Cluster> LoadCluster(const std::vector<std::string>& files, const LoadProgress& progress) {
  Loader loader(Loader::From::kCluster);
  if (auto read = ReadAll(files, progress, loader); !read) return Fail(read.error());
  loader.LeaveOutPodsOfUnknownNodes();
  if (auto expanded = loader.Expand(); !expanded) return Fail(expanded.error());
  Cluster cluster = std::move(loader).Take();
  std::ranges::move(MissingReferences(cluster.objects), std::back_inserter(cluster.warnings));
  return cluster;
}

Result<Cluster> LoadNewObjects(const std::vector<std::string>& files,
                               const std::string& default_namespace) {
  Loader loader(Loader::From::kQuestion, default_namespace);
  if (auto read = ReadAll(files, nullptr, loader); !read) return Fail(read.error());
  Cluster cluster = std::move(loader).Take();
  if (!cluster.warnings.empty()) return Fail(std::move(cluster.warnings.front()));
  return cluster;
}

namespace {

// What kubectl would refuse of a manifest: fields that the API does not have.
Result<void> CheckFields(const ConfigValue& value, std::string_view path,
                         const api::TypeMeta& type) {
  const std::vector<std::string> unknown =
      documents::FindUnknownFields(value, type.api_version, type.kind);
  if (unknown.empty()) return {};
  return Fail(Error{unknown.front()}.Within(path));
}

}  // namespace

Result<api::ObjectPtr> ReadObject(const ConfigValue& value, std::string_view path,
                                  std::string_view kind) {
  auto read = documents::ReadObject(value, path, kind);
  if (!read) return read;
  if (IsManifest(*read)) {
    auto type = documents::StatedTypeOf(value);
    if (!type) return Fail(type.error().Within(path));
    if (type->kind.empty() && kind == api::KindOf<api::Pod>::kKind)
      *type = {std::string(api::KindOf<api::Pod>::kApiVersion), std::string(kind)};
    if (auto checked = CheckFields(value, path, *type); !checked) return Fail(checked.error());
  }
  const documents::ManifestFields fields = documents::ManifestFieldsOf(value);
  api::ObjectPtr object = Defaulted(*std::move(read), fields);
  if (!fields.generate_name.empty()) object = Renamed(object, fields.generate_name + "1");
  auto admitted = Admit(std::move(object));
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

Result<NewObjects> ReadObjects(const ConfigValue::List& values, std::string_view path) {
  Loader loader(Loader::From::kQuestion);
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string place = std::string(path) + "[" + std::to_string(i) + "]";
    const auto type = documents::StatedTypeOf(values[i]);
    if (!type) return Fail(type.error().Within(place));
    if (IsOfAdmission(*type) || IsPodController(*type)) {
      if (auto checked = CheckFields(values[i], place, *type); !checked)
        return Fail(checked.error());
      const auto taken = loader.AddTree(values[i], *type, place);
      if (!taken) return Fail(taken.error());
      if (*taken && !documents::IsRead(*type)) continue;
    }
    auto read = documents::ReadObject(values[i], place);
    if (!read) return Fail(read.error());
    if (IsManifest(*read)) {
      if (auto checked = CheckFields(values[i], place, *type); !checked)
        return Fail(checked.error());
    }
    if (auto added = loader.AddNew(*std::move(read), documents::ManifestFieldsOf(values[i]));
        !added) {
      return Fail(added.error().Within(place));
    }
  }
  return std::move(loader).TakeNew();
}

}  // namespace berth::simulator
