// SPDX-License-Identifier: Apache-2.0
#include "src/recording/frame_writer.h"

#include <type_traits>
#include <variant>
#include <vector>

#include "src/informers/kinds.h"
#include "src/recording/bytes.h"

namespace berth::recording {
namespace {

using informers::InformerEvent;

// The number of a frame's type, from 1.
template <typename T, size_t index = 0>
constexpr uint64_t TypeOf() {
  if constexpr (std::is_same_v<std::variant_alternative_t<index, Frame>, T>) {
    return index + 1;
  } else {
    return TypeOf<T, index + 1>();
  }
}

std::string KeyOf(const api::ObjectPtr& object) {
  const api::ObjectMeta* meta = api::MetaOf(object);
  return meta == nullptr ? "" : meta->Key();
}

// Whether the two are one object, not only equal.
bool SamePointer(const api::ObjectPtr& a, const api::ObjectPtr& b) {
  return a.index() == b.index() && a == b;
}

template <typename T>
void WriteList(const std::vector<T>& values, ByteWriter& to, const auto& write) {
  to.Unsigned(values.size());
  for (const T& value : values) write(value);
}

void WriteMeasured(const MeasuredResource& resource, ByteWriter& to) {
  to.Unsigned((resource.known ? kKnown : 0) | (resource.last ? kLast : 0));
  if (resource.known) {
    to.Real(resource.average);
    to.Real(resource.deviation);
  }
  if (resource.last) to.Real(*resource.last);
}

void WriteTexts(const std::vector<std::string>& texts, ByteWriter& to) {
  WriteList(texts, to, [&](const std::string& text) { to.Text(text); });
}

}  // namespace

template <typename T, typename Write>
void FrameWriter::Put(const Write& write, std::string& out) {
  body_.clear();
  ByteWriter body(body_);
  body.Unsigned(TypeOf<T>());
  write(body);
  ByteWriter(out).Text(body_);
}

void FrameWriter::Append(const TurnBegan& frame, std::string& out) {
  Put<TurnBegan>(
      [&](ByteWriter& to) {
        to.Signed(Since(frame.now));
        to.Signed((frame.wall_now - frame.now).count());
      },
      out);
}

void FrameWriter::Append(const CycleEnded& frame, std::string& out) {
  Put<CycleEnded>([&](ByteWriter& to) { to.Signed(Since(frame.now)); }, out);
}

void FrameWriter::AppendDecision(std::string_view pod_uid, Code code, std::string_view node_name,
                                 std::string_view message, std::string& out) {
  Put<AttemptEnded>(
      [&](ByteWriter& to) {
        to.Text(pod_uid);
        to.Unsigned(static_cast<uint64_t>(code));
        to.Text(node_name);
        to.Text(message);
      },
      out);
}

void FrameWriter::Append(const InformerEvent& event, KnownObjects& known, api::TextFilter* filter,
                         std::string& out) {
  const bool has_old = api::MetaOf(event.old_object) != nullptr;
  const std::string key = KeyOf(has_old ? event.old_object : event.new_object);
  const bool old_is_known = has_old && SamePointer(known.Find(event.kind, key), event.old_object);
  Put<InformerEvent>(
      [&](ByteWriter& to) {
        uint64_t parts = 0;
        if (has_old) parts |= old_is_known ? kOldIsKnown : kOld;
        if (api::MetaOf(event.new_object) != nullptr) parts |= kNew;
        if (event.undecodable) parts |= kUndecodable;
        to.Unsigned(static_cast<uint64_t>(event.kind));
        to.Unsigned(static_cast<uint64_t>(event.type));
        to.Unsigned(parts);
        std::string object;
        if ((parts & kOldIsKnown) != 0) to.Text(key);
        if ((parts & kOld) != 0) {
          AppendObject(event.old_object, filter, object);
          to.Text(object);
          object.clear();
        }
        if ((parts & kNew) != 0) {
          AppendObject(event.new_object, filter, object);
          to.Text(object);
        }
        if (!event.undecodable) return;
        const informers::Undecodable& damage = *event.undecodable;
        for (const std::string* text :
             {&damage.key, &damage.uid, &damage.node_name, &damage.scheduler_name, &damage.error}) {
          to.Text(*text);
        }
      },
      out);
  known.Note(event);
}

void FrameWriter::Append(const BindEnded& frame, std::string& out) {
  Put<BindEnded>(
      [&](ByteWriter& to) {
        to.Text(frame.pod_uid);
        to.Text(frame.node_name);
        to.Unsigned(static_cast<uint64_t>(frame.status.code));
        to.Text(frame.status.message);
        to.Unsigned(static_cast<uint64_t>(frame.stage));
        to.Text(frame.failed_plugin);
        to.Unsigned(frame.unknown ? 1 : 0);
      },
      out);
}

void FrameWriter::Append(const scheduler::PreBindDone& frame, std::string& out) {
  Put<scheduler::PreBindDone>([&](ByteWriter& to) { to.Text(frame.pod_uid); }, out);
}

void FrameWriter::Append(const scheduler::BindUnconfirmed& frame, std::string& out) {
  Put<scheduler::BindUnconfirmed>([&](ByteWriter& to) { to.Text(frame.pod_uid); }, out);
}

void FrameWriter::Append(const scheduler::StopRequested& frame, std::string& out) {
  Put<scheduler::StopRequested>([&](ByteWriter& to) { to.Signed(frame.patience.count()); }, out);
}

void FrameWriter::Append(const scheduler::BinderClosed& frame, std::string& out) {
  Put<scheduler::BinderClosed>([&](ByteWriter& to) { to.Unsigned(frame.given_up); }, out);
}

void FrameWriter::Append(const scheduler::LeadingBegan& frame, std::string& out) {
  Put<scheduler::LeadingBegan>([&](ByteWriter& to) { WriteTexts(frame.unfinished_uids, to); }, out);
}

void FrameWriter::Append(const EvictionAnswered& frame, std::string& out) {
  Put<EvictionAnswered>(
      [&](ByteWriter& to) {
        to.Text(frame.scheduler_name);
        to.Text(frame.victim_uid);
        to.Unsigned(frame.number);
        to.Unsigned(frame.in_memory ? 1 : 0);
        to.Unsigned(static_cast<uint64_t>(frame.answer.code));
        to.Text(frame.answer.message);
      },
      out);
}

void FrameWriter::Append(const PreBindCancelled& frame, std::string& out) {
  Put<PreBindCancelled>([&](ByteWriter& to) { to.Unsigned(frame.cancelled ? 1 : 0); }, out);
}

void FrameWriter::Append(const Reloaded& frame, std::string& out) {
  Put<Reloaded>([&](ByteWriter& to) { to.Text(frame.configuration); }, out);
}

void FrameWriter::Append(const PodsActivated& frame, std::string& out) {
  Put<PodsActivated>([&](ByteWriter& to) { WriteTexts(frame.pod_keys, to); }, out);
}

void FrameWriter::Append(const ClaimWritten& frame, api::TextFilter* filter, std::string& out) {
  Put<ClaimWritten>(
      [&](ByteWriter& to) {
        std::string object;
        AppendObject(frame.claim, filter, object);
        to.Text(object);
      },
      out);
}

void FrameWriter::Append(const ClaimsSettled& frame, std::string& out) {
  Put<ClaimsSettled>([&](ByteWriter& to) { WriteTexts(frame.uids, to); }, out);
}

void FrameWriter::Append(const VolumeWritten& frame, std::string& out) {
  Put<VolumeWritten>(
      [&](ByteWriter& to) {
        to.Unsigned(static_cast<uint64_t>(frame.kind));
        to.Text(frame.key);
        to.Text(frame.resource_version);
      },
      out);
}

void FrameWriter::Append(const ExtenderFiltered& frame, std::string& out) {
  Put<ExtenderFiltered>(
      [&](ByteWriter& to) {
        to.Text(frame.error);
        WriteList(frame.result.nodes, to, [&](NodeRow row) { to.Unsigned(row); });
        WriteList(frame.result.rejected, to, [&](const extender::Rejection& rejection) {
          to.Unsigned(rejection.row);
          to.Unsigned(static_cast<uint64_t>(rejection.code));
          to.Text(rejection.reason);
        });
      },
      out);
}

void FrameWriter::Append(const ExtenderPrioritized& frame, std::string& out) {
  Put<ExtenderPrioritized>(
      [&](ByteWriter& to) {
        to.Text(frame.error);
        WriteList(frame.scores, to, [&](const extender::HostPriority& priority) {
          to.Unsigned(priority.row);
          to.Signed(priority.score);
        });
      },
      out);
}

void FrameWriter::Append(const ExtenderPreempted& frame, std::string& out) {
  Put<ExtenderPreempted>(
      [&](ByteWriter& to) {
        to.Text(frame.error);
        WriteList(frame.candidates, to, [&](const LeftCandidate& candidate) {
          to.Unsigned(candidate.row);
          to.Signed(candidate.num_pdb_violations);
          WriteTexts(candidate.victim_uids, to);
        });
      },
      out);
}

void FrameWriter::Append(const NodesMeasured& frame, std::string& out) {
  Put<NodesMeasured>(
      [&](ByteWriter& to) {
        to.Text(frame.source);
        to.Signed(frame.window_end);
        to.Unsigned(frame.amounts ? 1 : 0);
        WriteList(frame.nodes, to, [&](const NodeMetrics& node) {
          to.Text(node.name);
          WriteMeasured(node.cpu, to);
          WriteMeasured(node.memory, to);
        });
      },
      out);
}

void FrameWriter::Append(const Ended& frame, std::string& out) {
  Put<Ended>([&](ByteWriter& to) { to.Text(frame.reason); }, out);
}

}  // namespace berth::recording
