// SPDX-License-Identifier: Apache-2.0
#include "berth/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/in_tree/cycle_state.h"

namespace berth {
namespace {

TEST(ReasonTableTest, EqualListsShareOneObjectHoweverManyMoreCome) {
  ReasonTable table;
  const ReasonSet* first = table.Intern("no room");
  for (int i = 0; i < 1000; ++i) table.Intern("reason " + std::to_string(i));
  EXPECT_EQ(table.Intern("no room"), first);
  EXPECT_EQ(table.Intern(ReasonSet{"no room"}), first);
  EXPECT_EQ(*first, ReasonSet{"no room"});
  EXPECT_NE(table.Intern(ReasonSet{"no room", "no light"}), first);
  EXPECT_NE(table.Intern(ReasonSet{"no room", "no light"}),
            table.Intern(ReasonSet{"no light", "no room"}));
}

TEST(StatusTest, CarriesItsCodeAndItsReasonsInOrder) {
  ReasonTable table;
  const Status status = table.Make(Code::kUnschedulable, ReasonSet{"b", "a"});
  EXPECT_EQ(status.code(), Code::kUnschedulable);
  EXPECT_TRUE(status.rejected());
  EXPECT_EQ(status.message(), "b, a");
  EXPECT_EQ(status, table.Make(Code::kUnschedulable, ReasonSet{"b", "a"}));
  EXPECT_NE(status, table.Make(Code::kPending, ReasonSet{"b", "a"}));
  EXPECT_TRUE(Status().ok());
  EXPECT_THAT(Status().reasons(), testing::IsEmpty());
  EXPECT_TRUE(Status::Skip().skip());
  EXPECT_EQ(table.Error("broken").code(), Code::kError);
  EXPECT_FALSE(table.Error("broken").rejected());
}

TEST(StatusTest, CodesHaveTheNamesOfMetrics) {
  EXPECT_EQ(CodeName(Code::kSuccess), "Success");
  EXPECT_EQ(CodeName(Code::kUnschedulableAndUnresolvable), "UnschedulableAndUnresolvable");
  EXPECT_EQ(CodeName(Code::kPending), "Pending");
}

struct Counter {
  int value = 0;
};
struct Sized {
  size_t bytes() const { return 1000; }
};

TEST(CycleStateDeathTest, WhatWasNotWrittenIsNotRead) {
  EXPECT_DEATH((void)CycleState().Read<Counter>(), "reads what it has not written");
}

TEST(CycleStateTest, KeepsOneEntryForEachTypeAndClonesThem) {
  CycleState state;
  EXPECT_EQ(state.Find<Counter>(), nullptr);
  EXPECT_EQ(state.ReadOr<Counter>([] { return Counter{5}; })->value, 5);
  state.Write(Counter{1});
  state.Write(Counter{2});
  const size_t before = state.bytes();
  state.Write(Sized());
  EXPECT_GE(state.bytes(), before + 1000);
  EXPECT_EQ(state.Read<Counter>().value, 2);
  EXPECT_EQ(state.ReadOr<Counter>([] { return Counter{5}; })->value, 2);

  CycleState clone = state.Clone();
  clone.Mutable<Counter>().value = 7;
  EXPECT_EQ(state.Read<Counter>().value, 2);
  EXPECT_EQ(clone.Read<Counter>().value, 7);
  EXPECT_NE(clone.Find<Sized>(), nullptr);
  EXPECT_NE(&clone.reasons(), &state.reasons());
}

}  // namespace
}  // namespace berth
