// SPDX-License-Identifier: Apache-2.0
#include "src/recording/reader.h"

#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include "berth/plugin_kinds.h"
#include "berth/result.h"
#include "src/base/file.h"
#include "src/informers/kinds.h"
#include "src/recording/bytes.h"

namespace berth::recording {
namespace {

using informers::EventType;
using informers::InformerEvent;
using informers::Kind;

// How large a recording's newest objects may be in all, encoded: ten times a cluster of 5,000
// nodes.
constexpr uint64_t kMostKnownBytes = uint64_t{4} << 30;

// No process runs for longer, and no clock is further off.
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 20);

constexpr auto kCodes = static_cast<Code>(static_cast<int>(Code::kPending) + 1);
constexpr auto kStages =
    static_cast<binding::BindingStage>(static_cast<int>(binding::BindingStage::kPostBind) + 1);
constexpr auto kEventTypes = static_cast<EventType>(static_cast<int>(EventType::kSynced) + 1);

// Each element is a byte or more, so a hostile number ends with the bytes.
template <typename T>
void ReadList(ByteReader& from, std::vector<T>& values, const auto& read) {
  for (uint64_t left = from.Unsigned(); left > 0 && from.ok(); --left) {
    T value = read();
    if (from.ok()) values.push_back(std::move(value));
  }
}

// Reads the fields of one frame; Result where reading can fail by more than their form.
struct FrameFields {
  ByteReader from;
  Time start;
  const std::vector<api::PluginKindId>& plugin_kinds;
  KnownObjects& known;

  std::string Text() { return std::string(from.Text()); }
  void Texts(std::vector<std::string>& texts) {
    ReadList(from, texts, [this] { return Text(); });
  }
  Time At() { return start + Span(); }
  Duration Span() { return Duration(from.SignedWithin(kLongest.count())); }
  bool Bool() { return from.Below<uint64_t>(2) == 1; }
  NodeRow Row() { return static_cast<NodeRow>(from.Unsigned()); }

  // What kind it is in this process.
  Kind KindHere() {
    const size_t number =
        from.Below(static_cast<size_t>(Kind::kFirstPluginKind) + plugin_kinds.size());
    const auto own = informers::PluginKindOf(static_cast<Kind>(number));
    return own ? informers::KindOf(plugin_kinds[*own]) : static_cast<Kind>(number);
  }

  Result<Frame> Read(TurnBegan frame) {
    frame.now = At();
    frame.wall_now = frame.now + Span();
    return frame;
  }
  Result<Frame> Read(CycleEnded frame) {
    frame.now = At();
    return frame;
  }
  Result<Frame> Read(AttemptEnded frame) {
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
  Result<Frame> Read(scheduler::LeadingBegan frame) {
    Texts(frame.unfinished_uids);
    return frame;
  }
  Result<Frame> Read(EvictionAnswered frame) {
    frame.scheduler_name = Text();
    frame.victim_uid = Text();
    frame.number = from.Unsigned();
    frame.in_memory = Bool();
    frame.answer.code = from.Below(kCodes);
    frame.answer.message = Text();
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
  Result<Frame> Read(PodsActivated frame) {
    Texts(frame.pod_keys);
    return frame;
  }
  Result<Frame> Read(ClaimWritten frame) {
    auto object = ReadObject(Kind::kResourceClaim, from.Text());
    if (!object) return Fail(object.error());
    frame.claim = std::get<ClaimPtr>(*object);
    return frame;
  }
  Result<Frame> Read(ClaimsSettled frame) {
    Texts(frame.uids);
    return frame;
  }
  Result<Frame> Read(VolumeWritten frame) {
    frame.kind = Bool() ? VolumeWritten::Kind::kClaim : VolumeWritten::Kind::kVolume;
    frame.key = Text();
    frame.resource_version = Text();
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
      Texts(candidate.victim_uids);
      return candidate;
    });
    return frame;
  }
  MeasuredResource Measured() {
    MeasuredResource resource;
    const uint64_t parts = from.Unsigned();
    resource.known = (parts & kKnown) != 0;
    if (resource.known) {
      resource.average = from.Real();
      resource.deviation = from.Real();
    }
    if ((parts & kLast) != 0) resource.last = from.Real();
    return resource;
  }
  Result<Frame> Read(NodesMeasured frame) {
    frame.source = Text();
    frame.window_end = from.Signed();
    frame.amounts = Bool();
    ReadList(from, frame.nodes, [this] {
      NodeMetrics node;
      node.name = Text();
      node.cpu = Measured();
      node.memory = Measured();
      return node;
    });
    return frame;
  }
  Result<Frame> Read(Ended frame) {
    frame.reason = Text();
    return frame;
  }
};

Result<Frame> FrameFields::Read(InformerEvent event) {
  size_t bytes = 0;
  const auto read = [&](api::ObjectPtr& to) -> Result<void> {
    const std::string_view encoded = from.Text();
    auto object = ReadObject(event.kind, encoded);
    if (!object) return Fail(object.error());
    to = std::move(*object);
    bytes = encoded.size();
    return {};
  };
  event.kind = KindHere();
  event.type = from.Below(kEventTypes);
  const uint64_t parts = from.Unsigned();
  if ((parts & kOldIsKnown) != 0) {
    const std::string_view key = from.Text();
    event.old_object = known.Find(event.kind, key);
    if (api::MetaOf(event.old_object) == nullptr) {
      return Fail("the object \"" + std::string(key) + "\" has no version before this one");
    }
  } else if ((parts & kOld) != 0) {
    if (auto done = read(event.old_object); !done) return Fail(done.error());
  }
  if ((parts & kNew) != 0) {
    if (auto done = read(event.new_object); !done) return Fail(done.error());
  }
  if ((parts & kUndecodable) != 0) {
    informers::Undecodable& damage = event.undecodable.emplace();
    for (std::string* text :
         {&damage.key, &damage.uid, &damage.node_name, &damage.scheduler_name, &damage.error}) {
      *text = Text();
    }
  }
  // What the handlers rely on.
  const bool has_old = api::MetaOf(event.old_object) != nullptr;
  const bool has_new = api::MetaOf(event.new_object) != nullptr;
  const bool whole = event.type == EventType::kAdded     ? has_new
                     : event.type == EventType::kUpdated ? has_old && has_new
                                                         : !has_new;
  const bool of_damaged =
      event.type == EventType::kUndecodable || (event.type == EventType::kDeleted && !has_old);
  if (of_damaged && !event.undecodable) return Fail("an event that names no object");
  if (!whole) return Fail("an event that lacks an object, or has one too many");
  known.Note(event, bytes);
  if (known.bytes() > kMostKnownBytes) return Fail("more objects than any cluster has");
  return event;
}

template <size_t index = 0>
Result<Frame> ReadAs(uint64_t type, FrameFields& reader) {
  if constexpr (index == std::variant_size_v<Frame>) {
    return Fail("a frame of type " + std::to_string(type) + ", which this version does not know");
  } else {
    if (type == index + 1) return reader.Read(std::variant_alternative_t<index, Frame>{});
    return ReadAs<index + 1>(type, reader);
  }
}

// Takes the next frame off `bytes`; takes note of events in `known`. Errors: what no FrameWriter
// writes, also a type that is not known, an object that cannot be decoded, or one that is written
// as known and is not.
Result<Frame> ReadFrame(std::string_view& bytes, Time start,
                        const std::vector<api::PluginKindId>& plugin_kinds, KnownObjects& known) {
  ByteReader frames(bytes);
  const std::string_view body = frames.Text();
  if (!frames.ok()) return Fail("a frame is longer than what is left");
  bytes = std::string_view(
      body.data() + body.size(),
      static_cast<size_t>(bytes.data() + bytes.size() - body.data()) - body.size());
  FrameFields reader{ByteReader(body), start, plugin_kinds, known};
  const uint64_t type = reader.from.Unsigned();
  Result<Frame> frame = ReadAs(type, reader);
  if (frame && !reader.from.ok()) return Fail("a frame ends within a field");
  return frame;
}

// A file that is rotated later than any recorder would.
constexpr size_t kMostFileBytes = size_t{1} << 30;

}  // namespace

Result<RecordingReader> RecordingReader::Open(std::vector<std::filesystem::path> parts) {
  RecordingReader reader;
  reader.parts_ = std::move(parts);
  if (auto opened = reader.OpenPart(); !opened) return Fail(opened.error());
  return reader;
}

Result<RecordingReader> RecordingReader::OpenBytes(std::string name, std::string bytes) {
  RecordingReader reader;
  reader.name_ = std::move(name);
  reader.file_ = std::move(bytes);
  if (auto opened = reader.OpenPart(); !opened) return Fail(opened.error());
  return reader;
}

Result<void> RecordingReader::OpenPart() {
  if (!parts_.empty()) {
    name_ = parts_[part_].string();
    auto bytes = base::ReadFile(name_, kMostFileBytes);
    if (!bytes) return Fail(bytes.error());
    file_ = std::move(*bytes);
  }
  std::string_view rest = file_;
  chunk_at_ = 0;
  const auto chunk = ReadChunk(rest);
  if (!chunk) return Fail(Place() + chunk.error().message);
  if (chunk->type != ChunkType::kHeader || chunk->number != 0) {
    return Fail(Place() + "the file does not begin with a header");
  }
  auto header = ReadHeader(chunk->bytes);
  if (!header) return Fail(Place() + header.error().message);
  if (header->part != part_) {
    return Fail(Place() + "part " + std::to_string(part_) + " is missing: this is part " +
                std::to_string(header->part));
  }
  if (part_ > 0 && header->id != header_.id) {
    return Fail(Place() + "this is of another recording");
  }
  if (part_ == 0) {
    header_ = std::move(*header);
    if (auto found = FindPluginKinds(); !found) return Fail(Place() + found.error().message);
  }
  next_chunk_at_ = file_.size() - rest.size();
  next_number_ = 1;
  return {};
}

Result<void> RecordingReader::FindPluginKinds() {
  for (const api::PluginKind& kind : header_.plugin_kinds) {
    const auto id = PluginKinds().Add(kind);
    if (!id) return Fail(id.error().Within("a kind of the header"));
    plugin_kinds_.push_back(*id);
  }
  return {};
}

std::string RecordingReader::Place() const {
  return name_ + ": at byte " + std::to_string(chunk_at_) + ": ";
}

void RecordingReader::Stop(std::string what, bool torn) {
  ended_ = true;
  torn_ = torn;
  problem_ = std::move(what);
}

bool RecordingReader::NextChunk() {
  chunk_at_ = next_chunk_at_;
  while (chunk_at_ == file_.size()) {
    if (part_ + 1 >= parts_.size()) {
      Stop(Place() + "the recording breaks off", true);
      return false;
    }
    ++part_;
    if (auto opened = OpenPart(); !opened) {
      Stop(opened.error().message, false);
      return false;
    }
    chunk_at_ = next_chunk_at_;
  }
  std::string_view rest = std::string_view(file_).substr(chunk_at_);
  auto chunk = ReadChunk(rest);
  if (!chunk) {
    Stop(Place() + chunk.error().message, chunk.error().torn && part_ + 1 >= parts_.size());
    return false;
  }
  if (chunk->type != ChunkType::kFrames || chunk->number != next_number_) {
    Stop(Place() + "chunk " + std::to_string(next_number_) + " is missing", false);
    return false;
  }
  ++next_number_;
  next_chunk_at_ = file_.size() - rest.size();
  chunk_ = std::move(chunk->bytes);
  frame_at_ = 0;
  return true;
}

std::optional<Frame> RecordingReader::Next() {
  if (ended_) return std::nullopt;
  while (frame_at_ == chunk_.size()) {
    if (!NextChunk()) return std::nullopt;
  }
  std::string_view rest = std::string_view(chunk_).substr(frame_at_);
  auto frame = ReadFrame(rest, header_.start, plugin_kinds_, known_);
  if (!frame) {
    Stop(Place() + "byte " + std::to_string(frame_at_) + " of the chunk: " + frame.error().message,
         false);
    return std::nullopt;
  }
  frame_at_ = chunk_.size() - rest.size();
  if (const auto* end = std::get_if<Ended>(&*frame)) {
    ended_ = true;
    end_reason_ = end->reason;
    return std::nullopt;
  }
  return std::move(*frame);
}

}  // namespace berth::recording
