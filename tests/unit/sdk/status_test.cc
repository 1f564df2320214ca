// SPDX-License-Identifier: Apache-2.0
#include "berth/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/cycle_state.h"

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

struct Counter final : StateData {
  explicit Counter(int n) : value(n) {}
  std::unique_ptr<StateData> Clone() const override { return std::make_unique<Counter>(*this); }
  int value;
};
struct Other final : StateData {
  std::unique_ptr<StateData> Clone() const override { return std::make_unique<Other>(*this); }
};

TEST(CycleStateTest, KeepsOneEntryForEachTypeAndClonesThem) {
  CycleState state;
  EXPECT_EQ(state.Read<Counter>(), nullptr);
  state.Write(std::make_unique<Counter>(1));
  state.Write(std::make_unique<Counter>(2));
  state.Write(std::make_unique<Other>());
  ASSERT_NE(state.Read<Counter>(), nullptr);
  EXPECT_EQ(state.Read<Counter>()->value, 2);

  CycleState clone = state.Clone();
  clone.Mutable<Counter>()->value = 7;
  EXPECT_EQ(state.Read<Counter>()->value, 2);
  EXPECT_EQ(clone.Read<Counter>()->value, 7);
  EXPECT_NE(clone.Read<Other>(), nullptr);
  EXPECT_NE(&clone.reasons(), &state.reasons());
}

}  // namespace
}  // namespace berth
