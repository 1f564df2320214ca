// SPDX-License-Identifier: Apache-2.0
#include "src/cache/pod_fragments.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "berth/check.h"
#include "berth/in_tree/inputs.h"
#include "berth/node_features.h"

namespace berth::cache {
namespace {

// Writes values so that no two different sequences of calls of one shape give the same text:
// numbers in a form that ends itself, strings and lists after their length. Most parts are a few
// bytes, so they come to `out` in large pieces, the last when the writer goes.
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

  void Write(const api::LabelSelectorRequirement& r) { WriteAll(r.key, r.operator_, r.values); }
  void Write(const api::LabelSelector& s) { WriteAll(s.match_labels, s.match_expressions); }
  void Write(const api::NodeSelectorRequirement& r) { WriteAll(r.key, r.operator_, r.values); }
  void Write(const api::NodeSelectorTerm& t) { WriteAll(t.match_expressions, t.match_fields); }
  void Write(const api::NodeSelector& s) { Write(s.node_selector_terms); }
  void Write(const api::PreferredSchedulingTerm& t) { WriteAll(t.weight, t.preference); }
  void Write(const api::NodeAffinity& a) {
    WriteAll(a.required_during_scheduling_ignored_during_execution,
             a.preferred_during_scheduling_ignored_during_execution);
  }
  void Write(const api::PodAffinityTerm& t) {
    WriteAll(t.label_selector, t.namespaces, t.topology_key, t.namespace_selector,
             t.match_label_keys, t.mismatch_label_keys);
  }
  void Write(const api::WeightedPodAffinityTerm& t) { WriteAll(t.weight, t.pod_affinity_term); }
  void Write(const api::PodAffinity& a) {
    WriteAll(a.required_during_scheduling_ignored_during_execution,
             a.preferred_during_scheduling_ignored_during_execution);
  }
  void Write(const api::Toleration& t) {
    WriteAll(t.key, t.operator_, t.value, t.effect, t.toleration_seconds);
  }
  void Write(const api::TopologySpreadConstraint& c) {
    WriteAll(c.max_skew, c.topology_key, c.when_unsatisfiable, c.label_selector, c.min_domains,
             c.node_affinity_policy, c.node_taints_policy, c.match_label_keys);
  }
  void Write(const HostPort& p) { WriteAll(p.ip, p.protocol, p.port); }
  void Write(const api::PodSchedulingGate& g) { Write(g.name); }
  void Write(const api::OwnerReference& o) {
    WriteAll(o.api_version, o.kind, o.name, o.uid, o.controller);
  }
  void Write(const api::PersistentVolumeClaimVolumeSource& v) {
    WriteAll(v.claim_name, v.read_only);
  }
  void Write(const api::ImageVolumeSource& v) { Write(v.reference); }
  void Write(const api::GCEPersistentDiskVolumeSource& v) {
    WriteAll(v.pd_name, v.partition, v.read_only);
  }
  void Write(const api::AWSElasticBlockStoreVolumeSource& v) {
    WriteAll(v.volume_id, v.partition, v.read_only);
  }
  void Write(const api::ISCSIVolumeSource& v) {
    WriteAll(v.target_portal, v.iqn, v.lun, v.read_only);
  }
  void Write(const api::RBDVolumeSource& v) { WriteAll(v.monitors, v.image, v.pool, v.read_only); }
  void Write(const api::AzureDiskVolumeSource& v) {
    WriteAll(v.disk_name, v.disk_uri, v.kind, v.read_only);
  }
  void Write(const api::AzureFileVolumeSource& v) {
    WriteAll(v.secret_name, v.share_name, v.read_only);
  }
  void Write(const api::CinderVolumeSource& v) { WriteAll(v.volume_id, v.read_only); }
  void Write(const api::PortworxVolumeSource& v) { WriteAll(v.volume_id, v.read_only); }
  void Write(const api::VsphereVirtualDiskVolumeSource& v) { Write(v.volume_path); }
  void Write(const api::CSIVolumeSource& v) {
    WriteAll(v.driver, v.read_only, v.volume_attributes);
  }
  // But the image, which is a part of its own, and the name, which ties the volume to its mounts;
  // that of an ephemeral volume is half the name of its claim.
  void Write(const api::Volume& v) {
    WriteAll(v.persistent_volume_claim, v.gce_persistent_disk, v.aws_elastic_block_store, v.iscsi,
             v.rbd, v.azure_disk, v.azure_file, v.cinder, v.portworx_volume, v.vsphere_volume,
             v.csi, v.ephemeral.has_value());
    if (v.ephemeral) Write(v.name);
  }
  void Write(const api::PodResourceClaim& c) {
    WriteAll(c.name, c.resource_claim_name, c.resource_claim_template_name);
  }
  void Write(const api::PodSchedulingGroup& g) { Write(g.pod_group_name); }

  template <typename... T>
  void WriteAll(const T&... values) {
    (Write(values), ...);
  }

 private:
  static constexpr size_t kMostDigits = 10;

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

void WriteImages(const api::Pod& pod, Writer& writer) {
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    writer.Size(containers->size());
    for (const api::Container& c : *containers) writer.Write(c.image);
  }
  for (const api::Volume& v : pod.spec.volumes)
    if (v.image) writer.Write(*v.image);
}

void WriteVolumes(const api::Pod& pod, Writer& writer) {
  const auto is_read = [](const api::Volume& v) {
    return v.persistent_volume_claim || v.ephemeral || v.gce_persistent_disk ||
           v.aws_elastic_block_store || v.iscsi || v.rbd || v.azure_disk || v.azure_file ||
           v.cinder || v.portworx_volume || v.vsphere_volume || v.csi;
  };
  const auto is_ephemeral = [](const api::Volume& v) { return v.ephemeral.has_value(); };
  for (const api::Volume& v : pod.spec.volumes) {
    if (is_read(v)) writer.Write(v);
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
    default:
      BERTH_CHECK(false, "unknown part of a pod");
  }
}

}  // namespace

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
