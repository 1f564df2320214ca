// SPDX-License-Identifier: Apache-2.0
#include "src/api/list_reader.h"

#include "src/api/json_scan.h"
#include "src/api/wire_types.h"

namespace berth::api {
namespace {

// Field numbers of runtime.Unknown, and of every list message.
constexpr uint32_t kEnvelopeType = 1;
constexpr uint32_t kEnvelopeRaw = 2;
constexpr uint32_t kEnvelopeEncoding = 3;
constexpr uint32_t kListMeta = 1;
constexpr uint32_t kListItem = 2;

// Wire types of protobuf.
constexpr uint32_t kVarint = 0;
constexpr uint32_t kFixed64 = 1;
constexpr uint32_t kLengthDelimited = 2;
constexpr uint32_t kFixed32 = 5;

constexpr size_t kMaxVarintBytes = 10;

tl::unexpected<Error> Damaged(std::string_view what) {
  return Fail("list: malformed protobuf: " + std::string(what));
}

bool IsListKind(std::string_view kind) { return kind.empty() || kind.ends_with("List"); }

tl::unexpected<Error> NoList(const TypeMeta& type) {
  return Fail("list: expected a list, got " + type.api_version + " " + type.kind);
}

struct Varint {
  uint64_t value = 0;
  size_t bytes = 0;
};

// nullopt when `rest` ends before it does.
Result<std::optional<Varint>> ReadVarint(std::string_view rest) {
  uint64_t value = 0;
  for (size_t i = 0; i < kMaxVarintBytes; ++i) {
    if (i == rest.size()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(rest[i]);
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) return Varint{value, i + 1};
  }
  return Damaged("a varint of more than 10 bytes");
}

}  // namespace

struct ListReader::FieldHead {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  size_t head_bytes = 0;
  uint64_t payload_bytes = 0;
};

ListReader::ListReader(Encoding encoding, OnItem on_item, size_t max_json_bytes)
    : encoding_(encoding), on_item_(std::move(on_item)), max_json_bytes_(max_json_bytes) {}

Result<void> ListReader::Push(std::string_view data) {
  if (encoding_ == Encoding::kJson && buffer_.size() + data.size() > max_json_bytes_)
    return Fail("list: the body is larger than " + std::to_string(max_json_bytes_) + " bytes");
  buffer_.append(data);
  if (encoding_ == Encoding::kJson) return {};
  auto read = ReadProtobuf();
  buffer_.erase(0, offset_);
  offset_ = 0;
  return read;
}

Result<ListMeta> ListReader::Finish() {
  if (encoding_ == Encoding::kJson) return FinishJson();
  if (place_ != Place::kEnvelope || !seen_list_ || !buffer_.empty())
    return Fail("list: the body was cut short");
  return std::move(meta_);
}

Result<ListMeta> ListReader::FinishJson() {
  auto list = ScanList(buffer_, on_item_);
  if (!list) return Fail(list.error().Within("list"));
  if (!IsListKind(list->type.kind)) return NoList(list->type);
  return std::move(list->meta);
}

Result<void> ListReader::ReadProtobuf() {
  if (place_ == Place::kMagic) {
    if (buffer_.size() < kProtobufMagic.size()) return {};
    if (!buffer_.starts_with(kProtobufMagic)) return Damaged("no envelope");
    offset_ = kProtobufMagic.size();
    place_ = Place::kEnvelope;
  }
  for (;;) {
    if (place_ == Place::kList && list_bytes_left_ == 0) place_ = Place::kEnvelope;
    const auto read = ReadField();
    if (!read) return Fail(read.error());
    if (!*read) return {};
  }
}

Result<std::optional<ListReader::FieldHead>> ListReader::ReadHead(std::string_view rest) {
  const auto key = ReadVarint(rest);
  if (!key) return Fail(key.error());
  if (!*key) return std::nullopt;
  FieldHead head{.number = static_cast<uint32_t>((*key)->value >> 3),
                 .wire_type = static_cast<uint32_t>((*key)->value & 7),
                 .head_bytes = (*key)->bytes};
  switch (head.wire_type) {
    case kFixed64:
      head.payload_bytes = 8;
      return head;
    case kFixed32:
      head.payload_bytes = 4;
      return head;
    case kVarint:
    case kLengthDelimited:
      break;
    default:
      return Damaged("unknown wire type");
  }
  const auto varint = ReadVarint(rest.substr(head.head_bytes));
  if (!varint) return Fail(varint.error());
  if (!*varint) return std::nullopt;
  if (head.wire_type == kVarint) {
    head.payload_bytes = (*varint)->bytes;
  } else {
    head.head_bytes += (*varint)->bytes;
    head.payload_bytes = (*varint)->value;
  }
  return head;
}

Result<bool> ListReader::ReadField() {
  const std::string_view rest = std::string_view(buffer_).substr(offset_);
  const auto read = ReadHead(rest);
  if (!read) return Fail(read.error());
  if (!*read) return false;
  const FieldHead& head = **read;

  if (place_ == Place::kEnvelope && head.number == kEnvelopeRaw) {
    if (head.wire_type != kLengthDelimited) return Damaged("wrong wire type");
    offset_ += head.head_bytes;
    list_bytes_left_ = head.payload_bytes;
    place_ = Place::kList;
    seen_list_ = true;
    return true;
  }
  if (head.payload_bytes > kMaxObjectBytes)
    return Fail("list: an item is larger than " + std::to_string(kMaxObjectBytes) + " bytes");
  const size_t total = head.head_bytes + head.payload_bytes;
  if (place_ == Place::kList && total > list_bytes_left_) return Damaged("end of buffer");
  if (rest.size() < total) return false;
  if (head.wire_type == kLengthDelimited) {
    const std::string_view payload = rest.substr(head.head_bytes, head.payload_bytes);
    auto done = place_ == Place::kList ? OnListField(head.number, payload)
                                       : OnEnvelopeField(head.number, payload);
    if (!done) return Fail(done.error());
  }
  offset_ += total;
  if (place_ == Place::kList) list_bytes_left_ -= total;
  return true;
}

Result<void> ListReader::OnEnvelopeField(uint32_t number, std::string_view payload) {
  if (number == kEnvelopeType) {
    TypeMeta type;
    if (auto read = ReadMessage(payload, type); !read) return Fail(read.error().Within("list"));
    if (!IsListKind(type.kind)) return NoList(type);
  } else if (number == kEnvelopeEncoding && !payload.empty()) {
    return Fail("list: contentEncoding \"" + std::string(payload) + "\" is not supported");
  }
  return {};
}

Result<void> ListReader::OnListField(uint32_t number, std::string_view payload) {
  if (number == kListItem) {
    on_item_(payload);
  } else if (number == kListMeta) {
    if (auto read = ReadMessage(payload, meta_); !read)
      return Fail(read.error().Within("list: metadata"));
  }
  return {};
}

}  // namespace berth::api
