// SPDX-License-Identifier: Apache-2.0
#include "src/cache/object_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/random.h"
#include "tests/support/plain_listers.h"

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
  listers.ForEachService(namespace_, [&](const api::Service& service) {
    names.push_back(service.metadata.name + "@" + service.metadata.resource_version);
  });
  return names;
}

std::vector<std::string> Budgets(const Listers& listers, std::string_view namespace_) {
  std::vector<std::string> names;
  listers.ForEachPodDisruptionBudget(namespace_, [&](const api::PodDisruptionBudget& budget) {
    names.push_back(budget.metadata.name + "@" + budget.metadata.resource_version);
  });
  return names;
}

std::vector<std::string> Namespaces(const Listers& listers) {
  std::vector<std::string> names;
  listers.ForEachNamespace([&](const api::Namespace& object) {
    names.push_back(object.metadata.name + "@" + object.metadata.resource_version);
  });
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
  EXPECT_THAT(Services(tables, "shop"), ElementsAre("db@1", "web@1"));
  EXPECT_THAT(Services(tables, "nowhere"), IsEmpty());
  EXPECT_THAT(Budgets(tables, "shop"), ElementsAre("a@1", "b@1"));
  EXPECT_THAT(Namespaces(tables), ElementsAre("other@1", "shop@1"));
}

TEST(ObjectTablesTest, ANewVersionTakesThePlaceOfTheOld) {
  ObjectTables tables;
  tables.Set(Make<api::ReplicaSet>("shop", "web", "1"));
  tables.Set(Make<api::ReplicaSet>("shop", "web", "2"));
  ASSERT_NE(tables.FindReplicaSet("shop", "web"), nullptr);
  EXPECT_EQ(tables.FindReplicaSet("shop", "web")->metadata.resource_version, "2");
}

TEST(ObjectTablesTest, KindsOfOneNameAreKeptApart) {
  ObjectTables tables;
  tables.Set(Make<api::ReplicaSet>("shop", "web"));
  EXPECT_NE(tables.FindReplicaSet("shop", "web"), nullptr);
  EXPECT_EQ(tables.FindStatefulSet("shop", "web"), nullptr);
  EXPECT_EQ(tables.FindReplicationController("shop", "web"), nullptr);
  EXPECT_EQ(tables.FindReplicaSet("shop", "db"), nullptr);
  EXPECT_EQ(tables.FindReplicaSet("", "web"), nullptr);
  EXPECT_EQ(tables.FindNamespace("web"), nullptr);
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
  (void)tables.FindNamespace("shop");
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
  EXPECT_EQ(tables.FindStatefulSet("shop", "db"), second.get());
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

// What Listers shows of the kinds that are found by name, in the namespaces and names of the test.
std::string Found(const Listers& listers) {
  std::string text;
  const auto add = [&text](const auto* object) {
    text += object == nullptr ? "- " : object->metadata.resource_version + " ";
  };
  for (const char* name : {"a", "b", "c"}) {
    add(listers.FindNamespace(name));
    for (const char* namespace_ : {"n1", "n2"}) {
      add(listers.FindReplicationController(namespace_, name));
      add(listers.FindReplicaSet(namespace_, name));
      add(listers.FindStatefulSet(namespace_, name));
    }
  }
  return text;
}

template <typename T>
void ChangeBoth(bool remove, const std::shared_ptr<const T>& object, ObjectTables& tables,
                test::PlainListers& plain) {
  if (remove) {
    tables.Remove(object);
    plain.Remove<T>(object->metadata.namespace_, object->metadata.name);
  } else {
    tables.Set(object);
    plain.Set(*object);
  }
}

TEST(ObjectTablesTest, AfterAnyChangesItShowsWhatPlainListsShow) {
  Random random(42);
  ObjectTables tables;
  test::PlainListers plain;
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    const std::string namespace_ = random.Below(2) == 0 ? "n1" : "n2";
    const std::string name(1, static_cast<char>('a' + random.Below(3)));
    const std::string version = std::to_string(i);
    const bool remove = random.Below(3) == 0;
    switch (random.Below(6)) {
      case 0:
        ChangeBoth(remove, Make<api::Namespace>("", name, version), tables, plain);
        break;
      case 1:
        ChangeBoth(remove, Make<api::Service>(namespace_, name, version), tables, plain);
        break;
      case 2:
        ChangeBoth(remove, Make<api::ReplicationController>(namespace_, name, version), tables,
                   plain);
        break;
      case 3:
        ChangeBoth(remove, Make<api::ReplicaSet>(namespace_, name, version), tables, plain);
        break;
      case 4:
        ChangeBoth(remove, Make<api::StatefulSet>(namespace_, name, version), tables, plain);
        break;
      default:
        ChangeBoth(remove, Make<api::PodDisruptionBudget>(namespace_, name, version), tables,
                   plain);
        break;
    }
    ASSERT_EQ(Found(tables), Found(plain));
    ASSERT_EQ(Namespaces(tables), Namespaces(plain));
    for (const char* where : {"n1", "n2"}) {
      ASSERT_EQ(Services(tables, where), Services(plain, where));
      ASSERT_EQ(Budgets(tables, where), Budgets(plain, where));
    }
  }
}

}  // namespace
}  // namespace berth::cache
