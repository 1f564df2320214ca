// SPDX-License-Identifier: Apache-2.0
#include "src/recording/frames.h"

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "src/informers/kinds.h"
#include "src/recording/bytes.h"

namespace berth::recording {
namespace {

using informers::EventType;
using informers::InformerEvent;
using informers::Kind;

// The number of a frame's type, from 1.
template <typename T, size_t index = 0>
constexpr uint64_t TypeOf() {
  if constexpr (std::is_same_v<std::variant_alternative_t<index, Frame>, T>) {
    return index + 1;
  } else {
    return TypeOf<T, index + 1>();
  }
}

// Which parts of an event follow.
constexpr uint64_t kOldIsKnown = 1;
constexpr uint64_t kOld = 2;
constexpr uint64_t kNew = 4;
constexpr uint64_t kUndecodable = 8;

// What a recording's newest objects may come to, encoded: ten times a cluster of 5,000 nodes.
constexpr uint64_t kMostKnownBytes = uint64_t{4} << 30;

// No process runs for longer, and no clock is further off.
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 20);

constexpr auto kCodes = static_cast<Code>(static_cast<int>(Code::kPending) + 1);
constexpr auto kStages =
    static_cast<binding::BindingStage>(static_cast<int>(binding::BindingStage::kPostBind) + 1);
constexpr auto kEventTypes = static_cast<EventType>(static_cast<int>(EventType::kSynced) + 1);
constexpr auto kOrigins = static_cast<scheduler::QueryOrigin::Kind>(
    static_cast<int>(scheduler::QueryOrigin::Kind::kEviction) + 1);

Kind NumKinds() { return static_cast<Kind>(informers::AllKinds().size()); }

std::string KeyOf(const api::ObjectPtr& object) {
  const api::ObjectMeta* meta = informers::MetaOf(object);
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

// Each element is a byte or more, so a hostile number ends with the bytes.
template <typename T>
void ReadList(ByteReader& from, std::vector<T>& values, const auto& read) {
  for (uint64_t left = from.Unsigned(); left > 0 && from.ok(); --left) {
    T value = read();
    if (from.ok()) values.push_back(std::move(value));
  }
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
  Put<Decision>(
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
  const bool has_old = informers::MetaOf(event.old_object) != nullptr;
  const std::string key = KeyOf(has_old ? event.old_object : event.new_object);
  const bool old_is_known = has_old && SamePointer(known.Find(event.kind, key), event.old_object);
  Put<InformerEvent>(
      [&](ByteWriter& to) {
        const informers::Undecodable& damage = event.undecodable;
        uint64_t parts = 0;
        if (has_old) parts |= old_is_known ? kOldIsKnown : kOld;
        if (informers::MetaOf(event.new_object) != nullptr) parts |= kNew;
        if (!damage.key.empty()) parts |= kUndecodable;
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
        if ((parts & kUndecodable) == 0) return;
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

void FrameWriter::Append(const scheduler::LeadingBegan&, std::string& out) {
  Put<scheduler::LeadingBegan>([](ByteWriter&) {}, out);
}

void FrameWriter::Append(const QueryRan& frame, std::string& out) {
  Put<QueryRan>(
      [&](ByteWriter& to) {
        to.Unsigned(static_cast<uint64_t>(frame.origin.kind));
        to.Text(frame.origin.victim_uid);
        to.Unsigned(static_cast<uint64_t>(frame.origin.answer.code));
        to.Text(frame.origin.answer.message);
      },
      out);
}

void FrameWriter::Append(const PreBindCancelled& frame, std::string& out) {
  Put<PreBindCancelled>([&](ByteWriter& to) { to.Unsigned(frame.cancelled ? 1 : 0); }, out);
}

void FrameWriter::Append(const Reloaded& frame, std::string& out) {
  Put<Reloaded>([&](ByteWriter& to) { to.Text(frame.configuration); }, out);
}

void FrameWriter::Append(const Activated& frame, std::string& out) {
  Put<Activated>(
      [&](ByteWriter& to) {
        WriteList(frame.pod_keys, to, [&](const std::string& key) { to.Text(key); });
      },
      out);
}

void FrameWriter::Append(const ClaimAssumed& frame, api::TextFilter* filter, std::string& out) {
  Put<ClaimAssumed>(
      [&](ByteWriter& to) {
        std::string object;
        AppendObject(frame.claim, filter, object);
        to.Text(object);
      },
      out);
}

void FrameWriter::Append(const PendingClaimRemoved& frame, std::string& out) {
  Put<PendingClaimRemoved>(
      [&](ByteWriter& to) {
        to.Text(frame.uid);
        to.Unsigned(frame.sharers == ClaimTracker::Sharers::kAll ? 1 : 0);
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
          WriteList(candidate.victim_uids, to, [&](const std::string& uid) { to.Text(uid); });
        });
      },
      out);
}

void FrameWriter::Append(const Ended& frame, std::string& out) {
  Put<Ended>([&](ByteWriter& to) { to.Text(frame.reason); }, out);
}

namespace {

// Reads the fields of one frame; Result where reading can fail by more than their form.
struct FieldReader {
  ByteReader from;
  Time start;
  KnownObjects& known;

  std::string Text() { return std::string(from.Text()); }
  Time At() { return start + Span(); }
  Duration Span() { return Duration(from.SignedWithin(kLongest.count())); }
  bool Bool() { return from.Below<uint64_t>(2) == 1; }
  NodeRow Row() { return static_cast<NodeRow>(from.Unsigned()); }

  Result<Frame> Read(TurnBegan frame) {
    frame.now = At();
    frame.wall_now = frame.now + Span();
    return frame;
  }
  Result<Frame> Read(CycleEnded frame) {
    frame.now = At();
    return frame;
  }
  Result<Frame> Read(Decision frame) {
    frame.pod_uid = Text();
    frame.code = from.Below(kCodes);
    frame.node_name = Text();
    frame.message = Text();
    return frame;
  }
  Result<Frame> Read(InformerEvent event);
  Result<Frame> Read(BindEnded frame) {
    frame.pod_uid = Text();
    frame.node_name = Text();
    frame.status.code = from.Below(kCodes);
    frame.status.message = Text();
    frame.stage = from.Below(kStages);
    frame.failed_plugin = Text();
    frame.unknown = Bool();
    return frame;
  }
  Result<Frame> Read(scheduler::PreBindDone frame) {
    frame.pod_uid = Text();
    return frame;
  }
  Result<Frame> Read(scheduler::BindUnconfirmed frame) {
    frame.pod_uid = Text();
    return frame;
  }
  Result<Frame> Read(scheduler::StopRequested frame) {
    frame.patience = Span();
    return frame;
  }
  Result<Frame> Read(scheduler::BinderClosed frame) {
    frame.given_up = from.Unsigned();
    return frame;
  }
  static Result<Frame> Read(scheduler::LeadingBegan frame) { return frame; }
  Result<Frame> Read(QueryRan frame) {
    frame.origin.kind = from.Below(kOrigins);
    frame.origin.victim_uid = Text();
    frame.origin.answer.code = from.Below(kCodes);
    frame.origin.answer.message = Text();
    return frame;
  }
  Result<Frame> Read(PreBindCancelled frame) {
    frame.cancelled = Bool();
    return frame;
  }
  Result<Frame> Read(Reloaded frame) {
    frame.configuration = Text();
    return frame;
  }
  Result<Frame> Read(Activated frame) {
    ReadList(from, frame.pod_keys, [this] { return Text(); });
    return frame;
  }
  Result<Frame> Read(ClaimAssumed frame) {
    auto object = ReadObject(Kind::kResourceClaim, from.Text());
    if (!object) return Fail(object.error());
    frame.claim = std::get<ClaimPtr>(*object);
    return frame;
  }
  Result<Frame> Read(PendingClaimRemoved frame) {
    frame.uid = Text();
    frame.sharers = Bool() ? ClaimTracker::Sharers::kAll : ClaimTracker::Sharers::kOne;
    return frame;
  }
  Result<Frame> Read(ExtenderFiltered frame) {
    frame.error = Text();
    ReadList(from, frame.result.nodes, [this] { return Row(); });
    ReadList(from, frame.result.rejected, [this] {
      extender::Rejection rejection;
      rejection.row = Row();
      rejection.code = from.Below(kCodes);
      rejection.reason = Text();
      return rejection;
    });
    return frame;
  }
  Result<Frame> Read(ExtenderPrioritized frame) {
    frame.error = Text();
    ReadList(from, frame.scores, [this] {
      extender::HostPriority priority;
      priority.row = Row();
      priority.score = from.Signed();
      return priority;
    });
    return frame;
  }
  Result<Frame> Read(ExtenderPreempted frame) {
    frame.error = Text();
    ReadList(from, frame.candidates, [this] {
      LeftCandidate candidate;
      candidate.row = Row();
      candidate.num_pdb_violations = from.Signed();
      ReadList(from, candidate.victim_uids, [this] { return Text(); });
      return candidate;
    });
    return frame;
  }
  Result<Frame> Read(Ended frame) {
    frame.reason = Text();
    return frame;
  }
};

Result<Frame> FieldReader::Read(InformerEvent event) {
  size_t bytes = 0;
  const auto read = [&](api::ObjectPtr& to) -> Result<void> {
    const std::string_view encoded = from.Text();
    auto object = ReadObject(event.kind, encoded);
    if (!object) return Fail(object.error());
    to = std::move(*object);
    bytes = encoded.size();
    return {};
  };
  event.kind = from.Below(NumKinds());
  event.type = from.Below(kEventTypes);
  const uint64_t parts = from.Unsigned();
  if ((parts & kOldIsKnown) != 0) {
    const std::string_view key = from.Text();
    event.old_object = known.Find(event.kind, key);
    if (informers::MetaOf(event.old_object) == nullptr) {
      return Fail("the object \"" + std::string(key) + "\" was not told of before");
    }
  } else if ((parts & kOld) != 0) {
    if (auto done = read(event.old_object); !done) return Fail(done.error());
  }
  if ((parts & kNew) != 0) {
    if (auto done = read(event.new_object); !done) return Fail(done.error());
  }
  if ((parts & kUndecodable) != 0) {
    informers::Undecodable& damage = event.undecodable;
    for (std::string* text :
         {&damage.key, &damage.uid, &damage.node_name, &damage.scheduler_name, &damage.error}) {
      *text = Text();
    }
  }
  // What the handlers rely on.
  const bool has_old = informers::MetaOf(event.old_object) != nullptr;
  const bool has_new = informers::MetaOf(event.new_object) != nullptr;
  const bool whole = event.type == EventType::kAdded     ? has_new
                     : event.type == EventType::kUpdated ? has_old && has_new
                                                         : !has_new;
  if (!whole) return Fail("an event that lacks an object, or has one too many");
  known.Note(event, bytes);
  if (known.bytes() > kMostKnownBytes) return Fail("more objects than any cluster has");
  return event;
}

template <size_t index = 0>
Result<Frame> ReadAs(uint64_t type, FieldReader& reader) {
  if constexpr (index == std::variant_size_v<Frame>) {
    return Fail("a frame of type " + std::to_string(type) + ", which this version does not know");
  } else {
    if (type == index + 1) return reader.Read(std::variant_alternative_t<index, Frame>{});
    return ReadAs<index + 1>(type, reader);
  }
}

}  // namespace

Result<Frame> ReadFrame(std::string_view& bytes, Time start, KnownObjects& known) {
  ByteReader frames(bytes);
  const std::string_view body = frames.Text();
  if (!frames.ok()) return Fail("a frame is longer than what is left");
  bytes = std::string_view(
      body.data() + body.size(),
      static_cast<size_t>(bytes.data() + bytes.size() - body.data()) - body.size());
  FieldReader reader{ByteReader(body), start, known};
  const uint64_t type = reader.from.Unsigned();
  Result<Frame> frame = ReadAs(type, reader);
  if (frame && !reader.from.ok()) return Fail("a frame ends within a field");
  return frame;
}

}  // namespace berth::recording
