// SPDX-License-Identifier: Apache-2.0
#include "src/binding/event_series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "src/base/text.h"

namespace berth::binding {
namespace {

constexpr size_t kMaxNote = 1024;
constexpr size_t kMaxInstance = 128;
constexpr size_t kMaxName = 253;

// Kinds of characters, and what has been read of a name: nothing of a label yet, a label that may
// end here, or one that may not.
enum CharacterKind : uint8_t { kOther, kAlphanumeric, kHyphen, kDot };
enum NameState : uint8_t { kRefused, kBegin, kLabel, kAfterHyphen };

constexpr std::array<CharacterKind, 256> kCharacterKinds = [] {
  std::array<CharacterKind, 256> kinds{};
  for (unsigned char c = '0'; c <= '9'; ++c) kinds[c] = kAlphanumeric;
  for (unsigned char c = 'a'; c <= 'z'; ++c) kinds[c] = kAlphanumeric;
  kinds['-'] = kHyphen;
  kinds['.'] = kDot;
  return kinds;
}();
// By state and by kind of the next character.
constexpr NameState kNextState[4][4] = {{},
                                        {kRefused, kLabel, kRefused, kRefused},
                                        {kRefused, kLabel, kAfterHyphen, kBegin},
                                        {kRefused, kLabel, kAfterHyphen, kRefused}};

// RFC 1123, as Kubernetes reads it.
bool IsDnsSubdomain(std::string_view name) {
  if (name.size() > kMaxName) return false;
  NameState state = kBegin;
  for (const char c : name)
    state = kNextState[state][kCharacterKinds[static_cast<unsigned char>(c)]];
  return state == kLabel;
}

void AppendReference(const api::ObjectReference& object, std::string& key) {
  for (const std::string* part : {&object.uid, &object.resource_version, &object.kind,
                                  &object.namespace_, &object.name, &object.api_version}) {
    key.append(*part).push_back('\0');
  }
}

}  // namespace

std::string TruncateNote(std::string note) {
  if (note.size() <= kMaxNote) return note;
  static constexpr std::string_view kEllipsis = " ...";
  size_t end = kMaxNote - kEllipsis.size();
  // Half a character would be replaced by a longer one on its way, and the event be rejected.
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xc0) == 0x80) --end;
  note.resize(end);
  return note.append(kEllipsis);
}

api::ObjectReference ReferenceTo(const api::Pod& pod) {
  return {.kind = "Pod",
          .namespace_ = pod.metadata.namespace_,
          .name = pod.metadata.name,
          .uid = pod.metadata.uid,
          .api_version = "v1",
          .resource_version = pod.metadata.resource_version};
}

std::string SeriesKey(const EventRecord& record) {
  std::string key;
  key.reserve(192);
  AppendReference(record.regarding, key);
  if (record.related) AppendReference(*record.related, key);
  key.push_back(record.warning ? 'W' : 'N');
  key.append(record.reason).push_back('\0');
  key.append(record.action).push_back('\0');
  key += record.controller;
  return key;
}

api::Event MakeEvent(EventRecord&& record, Time when, Time unique, const std::string& hostname,
                     Random& random) {
  api::Event event;
  std::array<char, 16> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(),
                    static_cast<uint64_t>(unique.time_since_epoch().count()), 16);
  event.name.reserve(record.regarding.name.size() + 1 + digits.size());
  event.name.append(record.regarding.name).append(".").append(digits.data(), end);
  if (!IsDnsSubdomain(event.name)) {
    const uint64_t high = random.Next();
    event.name = base::UuidText(high, random.Next());
  }
  event.namespace_ = record.regarding.namespace_.empty() ? "default" : record.regarding.namespace_;
  event.event_time = when;
  event.reporting_instance = base::Concat(record.controller, "-", hostname);
  event.reporting_instance.resize(std::min(event.reporting_instance.size(), kMaxInstance));
  event.reporting_controller = std::move(record.controller);
  event.action = std::move(record.action);
  event.reason = std::move(record.reason);
  event.type = record.warning ? "Warning" : "Normal";
  event.note = TruncateNote(std::move(record.note));
  event.regarding = std::move(record.regarding);
  event.related = std::move(record.related);
  return event;
}

}  // namespace berth::binding
