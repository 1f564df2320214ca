// SPDX-License-Identifier: Apache-2.0
#include "src/api/decode.h"

#include <charconv>
#include <cmath>

#include "src/api/protobuf_writes.h"
#include "src/api/tree_reader.h"
#include "src/api/wire_types.h"

namespace berth::api {

std::string_view AcceptOf(Encoding encoding) {
  return encoding == Encoding::kProtobuf ? kProtobufContentType : "application/json";
}

std::string_view WatchAcceptOf(Encoding encoding) {
  return encoding == Encoding::kProtobuf ? "application/vnd.kubernetes.protobuf;stream=watch"
                                         : "application/json;stream=watch";
}

Encoding EncodingOf(std::string_view content_type) {
  return content_type.starts_with(kProtobufContentType) ? Encoding::kProtobuf : Encoding::kJson;
}

Result<void> CheckType(const TypeMeta& type, std::string_view api_version, std::string_view kind) {
  const bool same = (type.api_version.empty() || type.api_version == api_version) &&
                    (type.kind.empty() || type.kind == kind);
  if (same) return {};
  return Fail("expected " + std::string(api_version) + " " + std::string(kind) + ", got " +
              type.api_version + " " + type.kind);
}

PartialIdentity ReadIdentity(Encoding encoding, std::string_view bytes) {
  ObjectHead head;
  if (encoding == Encoding::kJson) {
    ReadJsonParts(bytes, head);
  } else if (const auto envelope = OpenEnvelope(bytes)) {
    ReadMessageParts(envelope->raw, head);
  }
  return {.namespace_ = std::move(head.metadata.namespace_),
          .name = std::move(head.metadata.name),
          .uid = std::move(head.metadata.uid),
          .resource_version = std::move(head.metadata.resource_version),
          .node_name = std::move(head.spec.node_name),
          .scheduler_name = std::move(head.spec.scheduler_name)};
}

TypeMeta ReadTypeMeta(Encoding encoding, std::string_view bytes) {
  TypeMeta type;
  if (encoding == Encoding::kJson) {
    (void)ReadJson(bytes, type);
  } else if (auto envelope = OpenEnvelope(bytes)) {
    type = std::move(envelope->type_meta);
  }
  return type;
}

std::string FormatNumber(double number) {
  const double size = std::abs(number);
  const bool plain = size == 0 || (size >= 1e-6 && size < 1e21);
  char text[64];
  const auto result =
      std::to_chars(text, text + sizeof text, number,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(text, result.ptr);
}

}  // namespace berth::api
