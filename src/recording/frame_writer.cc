// SPDX-License-Identifier: Apache-2.0
#include "src/recording/frame_writer.h"

namespace berth::recording {
namespace {

using informers::InformerEvent;

std::string KeyOf(const api::ObjectPtr& object) {
  const api::ObjectMeta* meta = api::MetaOf(object);
  return meta == nullptr ? "" : meta->Key();
}

// Whether the two are one object, not only equal.
bool SamePointer(const api::ObjectPtr& a, const api::ObjectPtr& b) {
  return a.index() == b.index() && a == b;
}

std::string Encoded(const api::ObjectPtr& object, api::TextFilter* filter) {
  std::string text;
  AppendObject(object, filter, text);
  return text;
}

}  // namespace

void FrameWriter::Write(const MeasuredResource& resource) {
  ByteWriter to(body_);
  to.Unsigned((resource.known ? kKnown : 0) | (resource.last ? kLast : 0));
  if (resource.known) {
    to.Real(resource.average);
    to.Real(resource.deviation);
  }
  if (resource.last) to.Real(*resource.last);
}

void FrameWriter::AppendDecision(std::string_view pod_uid, Code code, std::string_view node_name,
                                 std::string_view message, std::string& out) {
  Begin<AttemptEnded>();
  Write(pod_uid);
  Write(code);
  Write(node_name);
  Write(message);
  End(out);
}

void FrameWriter::Append(const InformerEvent& event, KnownObjects& known, api::TextFilter* filter,
                         std::string& out) {
  const bool has_old = api::MetaOf(event.old_object) != nullptr;
  const std::string key = KeyOf(has_old ? event.old_object : event.new_object);
  uint64_t parts = 0;
  if (has_old) {
    parts |= SamePointer(known.Find(event.kind, key), event.old_object) ? kOldIsKnown : kOld;
  }
  if (api::MetaOf(event.new_object) != nullptr) parts |= kNew;
  if (event.undecodable) parts |= kUndecodable;
  Begin<InformerEvent>();
  Write(event.kind);
  Write(event.type);
  Write(parts);
  if ((parts & kOldIsKnown) != 0) Write(key);
  if ((parts & kOld) != 0) Write(Encoded(event.old_object, filter));
  if ((parts & kNew) != 0) Write(Encoded(event.new_object, filter));
  if (event.undecodable) Write(*event.undecodable);
  End(out);
  known.Note(event);
}

void FrameWriter::Append(const ClaimWritten& frame, api::TextFilter* filter, std::string& out) {
  Begin<ClaimWritten>();
  Write(Encoded(frame.claim, filter));
  End(out);
}

}  // namespace berth::recording
