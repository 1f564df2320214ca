// SPDX-License-Identifier: Apache-2.0
#include "src/api/protobuf_writes.h"

#include <absl/container/fixed_array.h>

#include <chrono>
#include <cstdint>
#include <protozero/basic_pbf_writer.hpp>
#include <protozero/buffer_fixed.hpp>

#include "src/api/wire_types.h"
#include "src/base/utf8.h"

namespace berth::api {
namespace {

// Into room that is made before: a field is then copied, and nothing grows.
using Room = protozero::fixed_size_buffer_adaptor;
using Writer = protozero::basic_pbf_writer<Room>;

// More than a field takes beside its text: its key and its length, or a number of 64 bits.
constexpr size_t kMostAround = 12;
// How many fields an event and its envelope have at most, messages included.
constexpr size_t kMostFields = 40;

// The numbers are those of the generated.proto files of k8s.io/api and k8s.io/apimachinery.

void AddText(Writer& out, uint32_t number, std::string_view text) {
  if (!text.empty()) out.add_bytes(number, text.data(), text.size());
}

void AddMetadata(Writer& out, std::string_view name, std::string_view namespace_name,
                 std::string_view uid) {
  Writer metadata(out, 1);
  AddText(metadata, 1, name);
  AddText(metadata, 3, namespace_name);
  AddText(metadata, 5, uid);
}

void AddReference(Writer& out, uint32_t number, const ObjectReference& reference) {
  Writer message(out, number);
  AddText(message, 1, reference.kind);
  AddText(message, 2, reference.namespace_);
  AddText(message, 3, reference.name);
  AddText(message, 4, reference.uid);
  AddText(message, 5, reference.api_version);
  AddText(message, 6, reference.resource_version);
}

void AddMicroTime(Writer& out, uint32_t number, Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time - seconds);
  Writer message(out, number);
  message.add_int64(1, seconds.time_since_epoch().count());
  message.add_int32(2, static_cast<int32_t>(std::chrono::nanoseconds(micros).count()));
}

// What `write` adds to the object, in its envelope. `text_bytes`: of all texts that it adds.
template <typename Write>
std::string Enveloped(std::string_view api_version, std::string_view kind, size_t text_bytes,
                      const Write& write) {
  // Written here first and copied in its length: most of what a body may take is never needed.
  absl::FixedArray<char, 2048> most(kProtobufMagic.size() + api_version.size() + kind.size() +
                                    text_bytes + kMostFields * kMostAround);
  const size_t begin = kProtobufMagic.copy(most.data(), kProtobufMagic.size());
  Room room(most.data() + begin, most.size() - begin);
  Writer envelope(room);
  {
    Writer type(envelope, 1);
    AddText(type, 1, api_version);
    AddText(type, 2, kind);
  }
  {
    Writer object(envelope, 2);
    write(object);
  }
  return std::string(most.data(), begin + room.size());
}

template <typename Reference, typename Visit>
void VisitTexts(Reference& reference, const Visit& visit) {
  visit(reference.kind);
  visit(reference.namespace_);
  visit(reference.name);
  visit(reference.uid);
  visit(reference.api_version);
  visit(reference.resource_version);
}

template <typename AnEvent, typename Visit>
void VisitEventTexts(AnEvent& event, const Visit& visit) {
  visit(event.namespace_);
  visit(event.name);
  visit(event.reporting_controller);
  visit(event.reporting_instance);
  visit(event.action);
  visit(event.reason);
  visit(event.type);
  visit(event.note);
  VisitTexts(event.regarding, visit);
  if (event.related) VisitTexts(*event.related, visit);
}

void WriteEvent(const Event& event, Writer& out) {
  AddMetadata(out, event.name, event.namespace_, "");
  AddMicroTime(out, 2, event.event_time);
  if (event.series) {
    Writer series(out, 3);
    series.add_int32(1, event.series->count);
    AddMicroTime(series, 2, event.series->last_observed_time);
  }
  AddText(out, 4, event.reporting_controller);
  AddText(out, 5, event.reporting_instance);
  AddText(out, 6, event.action);
  AddText(out, 7, event.reason);
  AddReference(out, 8, event.regarding);
  if (event.related) AddReference(out, 9, *event.related);
  AddText(out, 10, event.note);
  AddText(out, 11, event.type);
}

}  // namespace

std::string BindingProtobuf(std::string_view namespace_name, std::string_view pod_name,
                            std::string_view pod_uid, std::string_view node_name) {
  constexpr std::string_view kTarget = "Node";
  const size_t text_bytes =
      namespace_name.size() + pod_name.size() + pod_uid.size() + node_name.size() + kTarget.size();
  return Enveloped("v1", "Binding", text_bytes, [&](Writer& out) {
    AddMetadata(out, pod_name, namespace_name, pod_uid);
    Writer target(out, 2);
    AddText(target, 1, kTarget);
    AddText(target, 3, node_name);
  });
}

std::string EventProtobuf(const Event& event) {
  size_t text_bytes = 0;
  bool utf8 = true;
  VisitEventTexts(event, [&](const std::string& text) {
    text_bytes += text.size();
    utf8 = utf8 && base::IsUtf8(text);
  });
  if (!utf8) {
    Event readable = event;
    VisitEventTexts(readable, [](std::string& text) { text = base::ToUtf8(text); });
    return EventProtobuf(readable);
  }
  return Enveloped("events.k8s.io/v1", "Event", text_bytes,
                   [&](Writer& out) { WriteEvent(event, out); });
}

}  // namespace berth::api
