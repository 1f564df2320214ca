// SPDX-License-Identifier: Apache-2.0
#include "src/cache/object_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "tests/unit/cache/plain_rows.h"

namespace berth::cache {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <typename T>
std::shared_ptr<const T> Make(std::string namespace_, std::string name, std::string version = "1") {
  auto object = std::make_shared<T>();
  object->metadata.namespace_ = std::move(namespace_);
  object->metadata.name = std::move(name);
  object->metadata.resource_version = std::move(version);
  return object;
}

std::vector<std::string> Services(const Listers& listers, std::string_view namespace_) {
  std::vector<std::string> names;
  listers.ForEach<api::Service>(
      namespace_, [&](const api::Service& service) { names.push_back(Shown(service.metadata)); });
  return names;
}

std::vector<std::string> Budgets(const Listers& listers, std::string_view namespace_) {
  std::vector<std::string> names;
  listers.ForEach<api::PodDisruptionBudget>(
      namespace_,
      [&](const api::PodDisruptionBudget& budget) { names.push_back(Shown(budget.metadata)); });
  return names;
}

std::vector<std::string> Namespaces(const Listers& listers) {
  std::vector<std::string> names;
  listers.ForEach<api::Namespace>(
      [&](const api::Namespace& object) { names.push_back(Shown(object.metadata)); });
  return names;
}

TEST(ObjectTablesTest, VisitsAreInOrderOfNameAndStayInTheirNamespace) {
  ObjectTables tables;
  tables.Set(Make<api::Service>("shop", "web"));
  tables.Set(Make<api::Service>("shop", "db"));
  tables.Set(Make<api::Service>("other", "cache"));
  tables.Set(Make<api::PodDisruptionBudget>("shop", "b"));
  tables.Set(Make<api::PodDisruptionBudget>("shop", "a"));
  tables.Set(Make<api::Namespace>("", "shop"));
  tables.Set(Make<api::Namespace>("", "other"));
  EXPECT_THAT(Services(tables, "shop"), ElementsAre("shop/db@1", "shop/web@1"));
  EXPECT_THAT(Services(tables, "nowhere"), IsEmpty());
  EXPECT_THAT(Budgets(tables, "shop"), ElementsAre("shop/a@1", "shop/b@1"));
  EXPECT_THAT(Namespaces(tables), ElementsAre("other@1", "shop@1"));
}

TEST(ObjectTablesTest, ANewVersionTakesThePlaceOfTheOld) {
  ObjectTables tables;
  tables.Set(Make<api::ReplicaSet>("shop", "web", "1"));
  tables.Set(Make<api::ReplicaSet>("shop", "web", "2"));
  ASSERT_NE(tables.Find<api::ReplicaSet>("shop", "web"), nullptr);
  EXPECT_EQ(tables.Find<api::ReplicaSet>("shop", "web")->metadata.resource_version, "2");
}

TEST(ObjectTablesTest, KindsOfOneNameAreKeptApart) {
  ObjectTables tables;
  tables.Set(Make<api::ReplicaSet>("shop", "web"));
  EXPECT_NE(tables.Find<api::ReplicaSet>("shop", "web"), nullptr);
  EXPECT_EQ(tables.Find<api::StatefulSet>("shop", "web"), nullptr);
  EXPECT_EQ(tables.Find<api::ReplicationController>("shop", "web"), nullptr);
  EXPECT_EQ(tables.Find<api::ReplicaSet>("shop", "db"), nullptr);
  EXPECT_EQ(tables.Find<api::ReplicaSet>("", "web"), nullptr);
  EXPECT_EQ(tables.Find<api::Namespace>("web"), nullptr);
}

TEST(ObjectTablesTest, GenerationsGrowWithEachChangeAndWithNothingElse) {
  ObjectTables tables;
  auto grew = [&, all = tables.generation(), ns = tables.namespaces_generation()]() mutable {
    const std::pair<bool, bool> grown = {tables.generation() > all,
                                         tables.namespaces_generation() > ns};
    all = tables.generation();
    ns = tables.namespaces_generation();
    return grown;
  };
  tables.Set(Make<api::Service>("shop", "web"));
  EXPECT_EQ(grew(), std::pair(true, false)) << "a service is added";
  auto service = std::make_shared<api::Service>(*Make<api::Service>("shop", "web", "2"));
  service->spec.selector.emplace_back("app", "web");
  tables.Set(service);
  EXPECT_EQ(grew(), std::pair(true, false)) << "a service selects other pods";
  tables.Set(Make<api::Namespace>("", "shop"));
  EXPECT_EQ(grew(), std::pair(true, true)) << "a namespace is added";
  (void)Services(tables, "shop");
  (void)tables.Find<api::Namespace>("shop");
  tables.Remove(Make<api::Service>("shop", "db"));
  tables.Remove(Make<api::Namespace>("", "other"));
  EXPECT_EQ(grew(), std::pair(false, false)) << "reads, and removals of what is not there";
  tables.Remove(Make<api::Namespace>("", "shop"));
  EXPECT_EQ(grew(), std::pair(true, true)) << "a namespace is removed";
}

template <typename T>
class AlikeVersionsTest : public testing::Test {};
using SelectingKinds = testing::Types<api::Service, api::ReplicationController, api::ReplicaSet,
                                      api::StatefulSet, api::Namespace>;
TYPED_TEST_SUITE(AlikeVersionsTest, SelectingKinds);

TYPED_TEST(AlikeVersionsTest, AWriteOfWhatNothingReadsIsShownAndNotCounted) {
  ObjectTables tables;
  tables.Set(Make<TypeParam>("shop", "web", "1"));
  const uint64_t generation = tables.generation();
  const uint64_t namespaces = tables.namespaces_generation();
  const auto status_written = Make<TypeParam>("shop", "web", "2");
  tables.Set(status_written);
  EXPECT_EQ(tables.generation(), generation);
  EXPECT_EQ(tables.namespaces_generation(), namespaces);

  auto labelled = std::make_shared<TypeParam>(*status_written);
  labelled->metadata.labels.emplace_back("team", "a");
  tables.Set(labelled);
  EXPECT_EQ(tables.generation(), generation + 1);
  auto going = std::make_shared<TypeParam>(*labelled);
  going->metadata.deletion_timestamp = Time();
  tables.Set(going);
  EXPECT_EQ(tables.generation(), generation + 2);
  auto made_again = std::make_shared<TypeParam>(*going);
  made_again->metadata.uid = "another";
  tables.Set(made_again);
  EXPECT_EQ(tables.generation(), generation + 3);
}

TEST(ObjectTablesTest, TheNewestVersionIsShownWhetherOrNotItCounts) {
  ObjectTables tables;
  tables.Set(Make<api::StatefulSet>("shop", "db", "1"));
  const auto second = Make<api::StatefulSet>("shop", "db", "2");
  tables.Set(second);
  EXPECT_EQ(tables.Find<api::StatefulSet>("shop", "db"), second.get());
}

TEST(ObjectTablesTest, BudgetsCountByThemselvesAndWithTheirStatus) {
  ObjectTables tables;
  auto budget = std::make_shared<api::PodDisruptionBudget>(
      *Make<api::PodDisruptionBudget>("shop", "web", "1"));
  const auto set = [&](const api::PodDisruptionBudget& version) {
    tables.Set(std::make_shared<api::PodDisruptionBudget>(version));
    return tables.disruption_budgets_generation();
  };
  EXPECT_EQ(set(*budget), 1u);
  budget->metadata.resource_version = "2";
  EXPECT_EQ(set(*budget), 1u);
  budget->status.disruptions_allowed = 1;
  EXPECT_EQ(set(*budget), 2u) << "preemption reads it";
  budget->status.disrupted_pods.emplace_back("web-0", Time());
  EXPECT_EQ(set(*budget), 3u);
  budget->spec.selector.emplace();
  EXPECT_EQ(set(*budget), 4u);
  tables.Remove(budget);
  EXPECT_EQ(tables.disruption_budgets_generation(), 5u);
  EXPECT_EQ(tables.generation(), 0u) << "no verdict is kept of what reads budgets";
}

TEST(ObjectTablesTest, AfterAnyChangesItShowsWhatPlainRowsShow) {
  Random random(42);
  ObjectTables tables;
  PlainRows namespaces;
  PlainRows services;
  PlainRows controllers;
  PlainRows replica_sets;
  PlainRows stateful_sets;
  PlainRows budgets;
  const auto shown = [](const auto* found) {
    return found == nullptr ? std::string() : Shown(found->metadata);
  };
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    const std::string namespace_ = random.Below(2) == 0 ? "n1" : "n2";
    const std::string name(1, static_cast<char>('a' + random.Below(3)));
    const bool remove = random.Below(3) == 0;
    const auto change = [&]<typename T>(const std::shared_ptr<const T>& object, PlainRows& rows) {
      if (remove) {
        tables.Remove(object);
        rows.Remove(object->metadata);
      } else {
        tables.Set(object);
        rows.Set(object->metadata, object->metadata.namespace_);
      }
    };
    const std::string version = std::to_string(i);
    switch (random.Below(6)) {
      case 0:
        change(Make<api::Namespace>("", name, version), namespaces);
        break;
      case 1:
        change(Make<api::Service>(namespace_, name, version), services);
        break;
      case 2:
        change(Make<api::ReplicationController>(namespace_, name, version), controllers);
        break;
      case 3:
        change(Make<api::ReplicaSet>(namespace_, name, version), replica_sets);
        break;
      case 4:
        change(Make<api::StatefulSet>(namespace_, name, version), stateful_sets);
        break;
      default:
        change(Make<api::PodDisruptionBudget>(namespace_, name, version), budgets);
        break;
    }
    ASSERT_EQ(Namespaces(tables), namespaces.Of(""));
    for (const char* in : {"n1", "n2"}) {
      ASSERT_EQ(Services(tables, in), services.Of(in));
      ASSERT_EQ(Budgets(tables, in), budgets.Of(in));
      for (const char* of : {"a", "b", "c"}) {
        ASSERT_EQ(shown(tables.Find<api::Namespace>(of)), namespaces.Find("", of));
        ASSERT_EQ(shown(tables.Find<api::ReplicationController>(in, of)), controllers.Find(in, of));
        ASSERT_EQ(shown(tables.Find<api::ReplicaSet>(in, of)), replica_sets.Find(in, of));
        ASSERT_EQ(shown(tables.Find<api::StatefulSet>(in, of)), stateful_sets.Find(in, of));
      }
    }
  }
}

}  // namespace
}  // namespace berth::cache
