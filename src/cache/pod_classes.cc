// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_classes.h"

#include <algorithm>
#include <utility>

#include "berth/check.h"
#include "berth/matching.h"
#include "src/api/tables_pod.h"

namespace berth::cache {
namespace {

constexpr PodParts kKnownParts = (PodParts{1} << kNumPodParts) - 1;
constexpr size_t kMinSweptClasses = 1024;
constexpr size_t kMinSweepBytes = 1u << 20;

// What stands in a part of a pod and yet tells no pods apart.
template <auto member>
constexpr bool kTellsNothing = false;
// WriteVolumes() writes the name where it matters.
template <>
constexpr bool kTellsNothing<&api::Volume::name> = true;
// These two are in parts of their own: kImages and kNodeFeatures.
template <>
constexpr bool kTellsNothing<&api::Volume::image> = true;
template <>
constexpr bool kTellsNothing<&api::Volume::empty_dir> = true;
// The claim that was made from it counts, as it is.
template <>
constexpr bool kTellsNothing<&api::EphemeralVolumeSource::volume_claim_template> = true;

// Writes values so that no two different sequences of calls of one shape give the same text:
// numbers in a form that ends itself, strings and lists after their length. Most parts are a few
// bytes, so they go into `out` in large pieces, the last when the writer goes.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { Flush(); }

  // Of all that was written, and what `out` had before.
  size_t size() const { return out_.size() + used_; }

  // LEB128 of the zigzag form: small numbers of either sign take one byte.
  void Number(int64_t value) {
    MakeRoom(kMostDigits);
    auto rest = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    for (; rest >= 0x80; rest >>= 7) room_[used_++] = static_cast<char>(rest | 0x80);
    room_[used_++] = static_cast<char>(rest);
  }
  void Size(size_t size) { Number(static_cast<int64_t>(size)); }
  void Write(bool value) {
    MakeRoom(1);
    room_[used_++] = value ? '\1' : '\0';
  }
  void Write(int32_t value) { Number(value); }
  void Write(int64_t value) { Number(value); }
  void Write(const std::string& text) {
    Size(text.size());
    if (text.size() > room_.size()) {
      Flush();
      out_ += text;
      return;
    }
    MakeRoom(text.size());
    text.copy(room_.data() + used_, text.size());
    used_ += text.size();
  }
  void Write(const api::Quantity& quantity) {
    const api::Quantity::Nanos nanos = quantity.nanos();
    Number(static_cast<int64_t>(nanos >> 64));
    Number(static_cast<int64_t>(nanos));
  }
  template <typename A, typename B>
  void Write(const std::pair<A, B>& pair) {
    Write(pair.first);
    Write(pair.second);
  }
  template <typename T>
  void Write(const std::optional<T>& value) {
    Write(value.has_value());
    if (value) Write(*value);
  }
  template <typename T>
  void Write(const api::Boxed<T>& value) {
    Write(value.has_value());
    if (value) Write(*value);
  }
  template <typename T>
  void Write(const std::vector<T>& list) {
    Size(list.size());
    for (const T& item : list) Write(item);
  }

  void Write(const HostPort& p) { WriteAll(p.ip, p.protocol, p.port); }
  // Every field that its table has, so that none can be forgotten, but those of kTellsNothing.
  template <api::Struct T>
  void Write(const T& value) {
    WriteFields(value, api::kFieldsOf<T>);
  }

  template <typename... T>
  void WriteAll(const T&... values) {
    (Write(values), ...);
  }

 private:
  static constexpr size_t kMostDigits = 10;

  template <typename T, typename... Fields>
  void WriteFields(const T& value, const api::FieldList<Fields...>& fields) {
    fields.Apply([&](const auto&... field) { (WriteField(value, field), ...); });
  }
  template <typename T, typename FieldOrNested>
  void WriteField(const T& value, const FieldOrNested& field) {
    if constexpr (api::kIsNested<FieldOrNested>) {
      WriteFields(value, field.fields);
    } else if constexpr (!kTellsNothing<FieldOrNested::kMember>) {
      Write(value.*FieldOrNested::kMember);
    }
  }

  void MakeRoom(size_t bytes) {
    if (room_.size() - used_ < bytes) Flush();
  }
  void Flush() {
    out_.append(room_.data(), used_);
    used_ = 0;
  }

  std::string& out_;
  std::array<char, 128> room_;  // left as it is: what is read was written
  size_t used_ = 0;
};

void WriteRequests(const api::Pod& pod, Writer& writer) {
  const auto write = [&](const std::vector<api::Container>& containers) {
    writer.Size(containers.size());
    for (const api::Container& c : containers)
      writer.WriteAll(c.restartable(), c.resources.requests);
  };
  write(pod.spec.init_containers);
  write(pod.spec.containers);
  writer.Write(pod.spec.resources.has_value());
  if (pod.spec.resources) writer.Write(pod.spec.resources->requests);
  writer.Write(pod.spec.overhead);
}

void WriteLimits(const api::Pod& pod, Writer& writer) {
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    writer.Size(containers->size());
    for (const api::Container& c : *containers) writer.Write(c.resources.limits);
  }
}

void WriteImages(const api::Pod& pod, Writer& writer) {
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    writer.Size(containers->size());
    for (const api::Container& c : *containers) writer.Write(c.image);
  }
  for (const api::Volume& v : pod.spec.volumes)
    if (v.image) writer.Write(*v.image);
}

template <typename... Fields>
bool IsAnySet(const api::Volume& volume, const api::FieldList<Fields...>& fields) {
  const auto is_set = [&]<typename FieldOrNested>(const FieldOrNested& field) {
    if constexpr (api::kIsNested<FieldOrNested>) {
      return IsAnySet(volume, field.fields);
    } else if constexpr (!kTellsNothing<FieldOrNested::kMember>) {
      return (volume.*FieldOrNested::kMember).has_value();
    } else {
      return false;
    }
  };
  return fields.Apply([&](const auto&... field) { return (... || is_set(field)); });
}

// Whether the volume is a claim or a disk: kubelet alone reads the others.
bool IsRead(const api::Volume& volume) { return IsAnySet(volume, api::kFieldsOf<api::Volume>); }

void WriteVolumes(const api::Pod& pod, Writer& writer) {
  const auto is_ephemeral = [](const api::Volume& v) { return v.ephemeral.has_value(); };
  for (const api::Volume& v : pod.spec.volumes) {
    if (!IsRead(v)) continue;
    writer.Write(v);
    // It ties the volume to its mounts; that of an ephemeral volume is half the name of its claim.
    if (v.ephemeral) writer.Write(v.name);
  }
  // Two pods that are alike otherwise have claims of their own.
  if (std::ranges::any_of(pod.spec.volumes, is_ephemeral)) {
    writer.WriteAll(pod.metadata.name, pod.metadata.uid);
  }
}

void WriteTestedLabels(const api::Pod& pod, const TestedLabelKeys& tested, Writer& writer) {
  for (const auto& label : pod.metadata.labels) {
    if (tested.Contains(label.first) || OwnTermsTest(pod.spec, label.first)) writer.Write(label);
  }
}

void WriteNodeFeatures(const api::Pod& pod, Writer& writer) {
  for (const std::string_view feature : RequiredNodeFeatures(pod)) {
    writer.Write(std::string(feature));
  }
}

const api::Affinity& AffinityOf(const api::PodSpec& spec) {
  static const auto kNone = api::Affinity{};
  return spec.affinity ? *spec.affinity : kNone;
}

void WriteNodeAffinity(const api::PodSpec& spec, Writer& writer) {
  writer.WriteAll(spec.node_selector, AffinityOf(spec).node_affinity);
}

void WritePodAffinity(const api::PodSpec& spec, Writer& writer) {
  const api::Affinity& affinity = AffinityOf(spec);
  writer.WriteAll(affinity.pod_affinity, affinity.pod_anti_affinity);
}

void WritePart(PodParts part, const PodInfo& info, const TestedLabelKeys& tested, Writer& writer) {
  const api::Pod& pod = *info.pod;
  switch (part) {
    case pod_part::kNodeName:
      return writer.Write(pod.spec.node_name);
    case pod_part::kTolerations:
      return writer.Write(pod.spec.tolerations);
    case pod_part::kNodeAffinity:
      return WriteNodeAffinity(pod.spec, writer);
    case pod_part::kHostPorts:
      return writer.Write(info.host_ports);
    case pod_part::kRequests:
      return WriteRequests(pod, writer);
    case pod_part::kImages:
      return WriteImages(pod, writer);
    case pod_part::kLabels:
      return writer.Write(pod.metadata.labels);
    case pod_part::kNamespace:
      return writer.Write(pod.metadata.namespace_);
    case pod_part::kPriority:
      return writer.WriteAll(pod.spec.priority, pod.spec.preemption_policy);
    case pod_part::kPodAffinity:
      return WritePodAffinity(pod.spec, writer);
    case pod_part::kTopologySpread:
      return writer.Write(pod.spec.topology_spread_constraints);
    case pod_part::kVolumes:
      return WriteVolumes(pod, writer);
    case pod_part::kSchedulingGates:
      return writer.Write(pod.spec.scheduling_gates);
    case pod_part::kOwner:
      return writer.Write(pod.metadata.owner_references);
    case pod_part::kNodeFeatures:
      return WriteNodeFeatures(pod, writer);
    case pod_part::kTestedLabels:
      return WriteTestedLabels(pod, tested, writer);
    case pod_part::kResourceClaims:
      return writer.Write(pod.spec.resource_claims);
    case pod_part::kSchedulingGroup:
      return writer.Write(pod.spec.scheduling_group);
    case pod_part::kLimits:
      return WriteLimits(pod, writer);
    default:
      BERTH_CHECK(false, "unknown part of a pod");
  }
}

}  // namespace

struct PodClasses::ClassedPodInfo : PodInfo {
  ClassedPodInfo(PodInfo&& info, PodClassPtr its_class, ResourceTable::Hold its_names)
      : PodInfo(std::move(info)), keeps_alive(std::move(its_class)), names(std::move(its_names)) {}

  PodClassPtr keeps_alive;
  ResourceTable::Hold names;
};

void PodClasses::SetParts(PodParts parts) {
  if (parts == parts_) return;
  parts_ = parts;
  last_class_ = nullptr;
  ++epoch_;
}

PodInfoPtr PodClasses::Assign(PodInfo&& info, ResourceTable::Hold names) {
  if (classes_.size() >= sweep_at_ || fragment_bytes_ >= sweep_at_bytes_) {
    Sweep();
    sweep_at_ = std::max(kMinSweptClasses, 2 * classes_.size());
    sweep_at_bytes_ = std::max(kMinSweepBytes, 2 * fragment_bytes_);
  }
  // What is said of a deferred resize hangs on what this one pod takes of its node.
  PodClassPtr pod_class = info.resize_deferred ? nullptr : Classify(info, names);
  const PodClassId id = pod_class == nullptr ? kNoPodClass : pod_class->id;
  auto classed =
      std::make_shared<ClassedPodInfo>(std::move(info), std::move(pod_class), std::move(names));
  classed->pod_class = id;
  classed->class_epoch = epoch_;
  return classed;
}

const Fragments* PodClasses::Find(PodClassId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &it->second->ids;
}

size_t PodClasses::BytesOf(PodClassId id) const {
  const auto it = by_id_.find(id);
  if (it == by_id_.end()) return 0;
  size_t bytes = 0;
  for (const Fragment* fragment : it->second->fragments)
    if (fragment != nullptr) bytes += fragment->text.size();
  return bytes;
}

void PodClasses::Sweep() {
  last_class_ = nullptr;
  last_found_.fill(nullptr);
  // The table's own reference is the only one left, and only the table hands out new ones, so
  // the count cannot grow again behind our back.
  absl::erase_if(classes_, [this](const auto& entry) {
    const PodClassPtr& pod_class = entry.second;
    if (pod_class.use_count() > 1) return false;
    by_id_.erase(pod_class->id);
    for (Fragment* fragment : pod_class->fragments) {
      if (fragment == nullptr || --fragment->uses > 0) continue;
      fragment_bytes_ -= fragment->text.size();
      fragments_.erase(fragment->text);
    }
    return true;
  });
}

PodClasses::PodClassPtr PodClasses::Classify(const PodInfo& info,
                                             const ResourceTable::Hold& names) {
  if ((parts_ & ~kKnownParts) != 0) return nullptr;
  texts_.Write(parts_, info, tested_);
  if (last_class_ != nullptr && texts_ == last_texts_) return last_class_;
  PodClass prototype;
  for (size_t part = 0; part < kNumPodParts; ++part) {
    if ((parts_ & (PodParts{1} << part)) == 0) continue;
    Fragment* fragment = InternFragment(part, texts_.text(part));
    if (fragment == nullptr) return nullptr;
    prototype.fragments[part] = fragment;
    prototype.ids[part] = fragment->id;
  }
  std::swap(texts_, last_texts_);
  if (const auto it = classes_.find(prototype.ids); it != classes_.end()) {
    last_class_ = it->second;
  } else {
    prototype.names = names;
    last_class_ = NewClass(prototype);
  }
  return last_class_;
}

PodClasses::Fragment* PodClasses::InternFragment(size_t part, std::string_view text) {
  Fragment*& last = last_found_[part];
  if (last != nullptr && last->text == text) return last;
  if (const auto it = fragments_.find(text); it != fragments_.end()) {
    return last = it->second.get();
  }
  if (last_fragment_ == UINT32_MAX) return nullptr;
  auto fragment = std::make_unique<Fragment>(Fragment{std::string(text), ++last_fragment_, 0});
  const std::string_view kept = fragment->text;
  fragment_bytes_ += kept.size();
  return last = fragments_.emplace(kept, std::move(fragment)).first->second.get();
}

PodClasses::PodClassPtr PodClasses::NewClass(const PodClass& prototype) {
  if (next_class_ == kNoPodClass) return nullptr;
  auto pod_class = std::make_shared<PodClass>(prototype);
  pod_class->id = next_class_++;
  for (Fragment* fragment : pod_class->fragments)
    if (fragment != nullptr) ++fragment->uses;
  by_id_.emplace(pod_class->id, pod_class.get());
  return classes_.emplace(pod_class->ids, std::move(pod_class)).first->second;
}

void PodFragments::Write(PodParts parts, const PodInfo& pod, const TestedLabelKeys& tested) {
  texts_.clear();
  Writer writer(texts_);
  for (size_t part = 0; part < kNumPodParts; ++part) {
    const PodParts bit = PodParts{1} << part;
    if ((parts & bit) != 0) WritePart(bit, pod, tested, writer);
    ends_[part] = writer.size();
  }
}

}  // namespace berth::cache
