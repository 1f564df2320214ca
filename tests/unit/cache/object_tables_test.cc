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
  tables.Set(Make<api::Service>("shop", "web", "2"));
  EXPECT_EQ(grew(), std::pair(true, false)) << "a service is changed";
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
