// SPDX-License-Identifier: Apache-2.0
#include "src/api/protobuf_writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <protozero/pbf_reader.hpp>

#include "src/api/wire_types.h"
#include "tests/unit/api/scheduled_event.h"

namespace berth::api {
namespace {

using testing::ElementsAre;
using testing::Pair;

// The fields of a message by their numbers; those that are numbers as decimals.
std::map<uint32_t, std::string> Fields(std::string_view bytes) {
  std::map<uint32_t, std::string> fields;
  protozero::pbf_reader reader(bytes.data(), bytes.size());
  while (reader.next()) {
    const uint32_t number = reader.tag();
    fields[number] = reader.wire_type() == protozero::pbf_wire_type::varint
                         ? std::to_string(reader.get_int64())
                         : reader.get_string();
  }
  return fields;
}

// The fields of the object in a body, whose envelope names this kind.
std::map<uint32_t, std::string> Object(const std::string& body, std::string_view api_version,
                                       std::string_view kind) {
  const auto envelope = OpenEnvelope(body);
  EXPECT_TRUE(body.starts_with(kProtobufMagic));
  EXPECT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->type_meta.api_version, api_version);
  EXPECT_EQ(envelope->type_meta.kind, kind);
  return Fields(envelope->raw);
}

TEST(ProtobufWritesTest, ABindingNamesThePodAndTheNode) {
  auto binding = Object(BindingProtobuf("shop", "web-0", "u-1", "n1"), "v1", "Binding");
  EXPECT_THAT(Fields(binding[1]), ElementsAre(Pair(1, "web-0"), Pair(3, "shop"), Pair(5, "u-1")));
  EXPECT_THAT(Fields(binding[2]), ElementsAre(Pair(1, "Node"), Pair(3, "n1")));
  EXPECT_EQ(binding.size(), 2u);
}

TEST(ProtobufWritesTest, AnEventIsThatOfEventsV1) {
  auto event = Object(EventProtobuf(ScheduledEvent()), "events.k8s.io/v1", "Event");
  EXPECT_THAT(Fields(event[1]), ElementsAre(Pair(1, "web-0.17f"), Pair(3, "shop")));
  EXPECT_THAT(Fields(event[2]), ElementsAre(Pair(1, "1700000000"), Pair(2, "123456000")));
  EXPECT_THAT(Fields(event[8]), ElementsAre(Pair(1, "Pod"), Pair(2, "shop"), Pair(3, "web-0"),
                                            Pair(4, "u-1"), Pair(5, "v1"), Pair(6, "417")));
  for (const uint32_t message : {1u, 2u, 8u}) event.erase(message);
  EXPECT_THAT(event,
              ElementsAre(Pair(4, "default-scheduler"), Pair(5, "default-scheduler-host"),
                          Pair(6, "Binding"), Pair(7, "Scheduled"),
                          Pair(10, "Successfully assigned shop/web-0 to n1"), Pair(11, "Normal")));
}

TEST(ProtobufWritesTest, ASeriesAndAnotherObjectAreToldOf) {
  Event event = ScheduledEvent();
  event.series = EventSeries{3, kEventTime};
  event.related.emplace().name = "n1";
  auto fields = Object(EventProtobuf(event), "events.k8s.io/v1", "Event");
  auto series = Fields(fields[3]);
  EXPECT_EQ(series[1], "3");
  EXPECT_THAT(Fields(series[2]), ElementsAre(Pair(1, "1700000000"), Pair(2, "123456000")));
  EXPECT_THAT(Fields(fields[9]), ElementsAre(Pair(3, "n1")));
}

TEST(ProtobufWritesTest, TextsOfAnyLengthAndBytesHaveRoom) {
  Event event = ScheduledEvent();
  event.related = event.regarding;
  event.series = EventSeries{-1, Time(std::chrono::nanoseconds(-1))};
  event.event_time = Time::max();
  for (const size_t length : {0u, 1u, 100u, 20'000u, 3'000'000u}) {
    SCOPED_TRACE(length);
    event.note.assign(length, '\xFF');
    event.regarding.name.assign(length, 'x');
    auto fields = Object(EventProtobuf(event), "events.k8s.io/v1", "Event");
    EXPECT_EQ(fields[10].size(), 3 * length);
    EXPECT_EQ(Fields(fields[8])[3].size(), length);
  }
}

TEST(ProtobufWritesTest, AnEmptyEventIsOneToo) {
  EXPECT_THAT(Fields(Object(EventProtobuf(Event()), "events.k8s.io/v1", "Event")[2]),
              ElementsAre(Pair(1, "0"), Pair(2, "0")));
}

}  // namespace
}  // namespace berth::api
