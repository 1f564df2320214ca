// SPDX-License-Identifier: Apache-2.0
#include "src/recording/reader.h"

#include <chrono>
#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "berth/plugin_kinds.h"
#include "berth/result.h"
#include "src/base/file.h"
#include "src/recording/bytes.h"
#include "src/recording/frame_fields.h"

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

// What lies beyond the last value of an enumeration.
template <auto last>
constexpr auto kBehind = static_cast<decltype(last)>(static_cast<int>(last) + 1);
constexpr auto EndOf(Code) { return kBehind<Code::kPending>; }
constexpr auto EndOf(binding::BindingStage) { return kBehind<binding::BindingStage::kPostBind>; }
constexpr auto EndOf(EventType) { return kBehind<EventType::kSynced>; }
constexpr auto EndOf(VolumeWritten::Kind) { return kBehind<VolumeWritten::Kind::kClaim>; }

// Reads the fields of one frame; Result where reading can fail by more than their form.
struct FrameReader {
  ByteReader from;
  Time start;
  const std::vector<api::PluginKindId>& plugin_kinds;
  KnownObjects& known;

  // What kind it is in this process.
  Kind KindHere() {
    const size_t number =
        from.Below(static_cast<size_t>(Kind::kFirstPluginKind) + plugin_kinds.size());
    const auto own = informers::PluginKindOf(static_cast<Kind>(number));
    return own ? informers::KindOf(plugin_kinds[*own]) : static_cast<Kind>(number);
  }

  void Read(MeasuredResource& resource) {
    const uint64_t parts = from.Unsigned();
    resource.known = (parts & kKnown) != 0;
    if (resource.known) {
      resource.average = from.Real();
      resource.deviation = from.Real();
    }
    if ((parts & kLast) != 0) resource.last = from.Real();
  }
  template <typename T>
  void Read(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = from.Below<uint64_t>(2) == 1;
    } else if constexpr (std::is_enum_v<T>) {
      value = from.Below(EndOf(T{}));
    } else if constexpr (std::unsigned_integral<T>) {
      value = static_cast<T>(from.Unsigned());
    } else if constexpr (std::signed_integral<T>) {
      value = from.Signed();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = from.Text();
    } else if constexpr (std::is_same_v<T, Duration>) {
      value = Duration(from.SignedWithin(kLongest.count()));
    } else if constexpr (std::is_same_v<T, Time>) {
      value = start + Duration(from.SignedWithin(kLongest.count()));
    } else if constexpr (kIsVector<T>) {
      // Each element is a byte or more, so a hostile number ends with the bytes.
      for (uint64_t left = from.Unsigned(); left > 0 && from.ok(); --left) {
        typename T::value_type element{};
        Read(element);
        if (from.ok()) value.push_back(std::move(element));
      }
    } else {
      std::apply([this](auto&... field) { (this->Read(field), ...); }, FieldsOf(value));
    }
  }

  template <typename T>
  Result<Frame> Whole(T frame) {
    Read(frame);
    return frame;
  }
  Result<Frame> Whole(ClaimWritten frame) {
    auto object = ReadObject(Kind::kResourceClaim, from.Text());
    if (!object) return Fail(object.error());
    frame.claim = std::get<ClaimPtr>(*object);
    return frame;
  }
  Result<Frame> Whole(InformerEvent event);
};

Result<Frame> FrameReader::Whole(InformerEvent event) {
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
  Read(event.type);
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
  if ((parts & kUndecodable) != 0) Read(event.undecodable.emplace());
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
Result<Frame> ReadAs(uint64_t type, FrameReader& reader) {
  if constexpr (index == std::variant_size_v<Frame>) {
    return Fail("a frame of type " + std::to_string(type) + ", which this version does not know");
  } else {
    if (type == index + 1) return reader.Whole(std::variant_alternative_t<index, Frame>{});
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
  FrameReader reader{ByteReader(body), start, plugin_kinds, known};
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
  if (part_ > 0 && header->id != header_.id) return Fail(Place() + "this is of another recording");
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
