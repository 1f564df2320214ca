// SPDX-License-Identifier: Apache-2.0
#include "berth/pod_affinity.h"

#include <gtest/gtest.h>

#include "berth/topology.h"
#include "tests/support/builders.h"

namespace berth {
namespace {

using test::MakeLabels;
using test::MakePod;
using test::MakeSelector;

api::PodAffinityTerm Term(std::vector<std::string> namespaces,
                          std::optional<api::LabelSelector> namespace_selector) {
  api::PodAffinityTerm term;
  term.label_selector = MakeSelector({{"app", "db"}});
  term.topology_key = "zone";
  term.namespaces = std::move(namespaces);
  term.namespace_selector = std::move(namespace_selector);
  return term;
}

api::Pod PodWith(api::PodAffinityTerm term) {
  api::Pod pod = MakePod().Namespace("own");
  pod.spec.affinity.emplace().pod_affinity.emplace();
  pod.spec.affinity->pod_affinity->required_during_scheduling_ignored_during_execution = {
      std::move(term)};
  return pod;
}

TEST(PodAffinityTermsTest, ThereAreNoneWithoutPodAffinity) {
  EXPECT_EQ(PodAffinityTerms::Make(MakePod()), nullptr);
  EXPECT_EQ(PodAffinityTerms::Make(MakePod().RequireNode({})), nullptr);
}

TEST(PodAffinityTermsTest, EveryTermIsReadIntoTheListOfItsKind) {
  const api::Pod pod = MakePod()
                           .PodAffinity("zone", {{"app", "a"}})
                           .PodAffinity("host", {{"app", "b"}})
                           .PodAntiAffinity("host", {{"app", "c"}})
                           .PreferPodAffinity(7, "zone", {{"app", "d"}})
                           .PreferPodAntiAffinity(9, "host", {{"app", "e"}});
  const auto terms = PodAffinityTerms::Make(pod);
  ASSERT_NE(terms, nullptr);
  EXPECT_EQ(terms->error, "");
  std::string seen;
  terms->ForEach([&](const AffinityTerm& term) {
    seen += std::to_string(static_cast<int>(term.kind)) + term.topology_key +
            std::to_string(term.weight) + term.selector.requirements()[0].values[0] + " ";
  });
  EXPECT_EQ(seen, "0zone0a 0host0b 1host0c 2zone7d 3host9e ");
  EXPECT_TRUE(terms->any_required());
  EXPECT_TRUE(terms->any_preferred());
}

TEST(PodAffinityTermsTest, ATermMeansItsNamespacesThoseItSelectsOrThePodsOwn) {
  const struct {
    const char* name;
    api::PodAffinityTerm term;
    bool own, listed, selected;  // whether it means a pod in such a namespace
  } cases[] = {
      {"neither", Term({}, std::nullopt), true, false, false},
      {"a list", Term({"other", "listed", "other"}, std::nullopt), false, true, false},
      {"a selector", Term({}, MakeSelector({{"team", "a"}})), false, false, true},
      {"both", Term({"listed"}, MakeSelector({{"team", "a"}})), false, true, true},
      {"a selector of everything", Term({}, api::LabelSelector()), true, true, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto terms = PodAffinityTerms::Make(PodWith(c.term));
    ASSERT_EQ(terms->required_affinity.size(), 1u);
    const AffinityTerm& term = terms->required_affinity.front();
    const auto means = [&](std::string_view namespace_, api::StringMap namespace_labels) {
      const auto pod = MakePod().Namespace(namespace_);
      EXPECT_FALSE(term.Matches(pod, namespace_labels)) << "a pod without the label";
      return term.Matches(MakePod().Namespace(namespace_).Label("app", "db"), namespace_labels);
    };
    EXPECT_EQ(means("own", {}), c.own);
    EXPECT_EQ(means("listed", MakeLabels({{"team", "b"}})), c.listed);
    EXPECT_EQ(means("selected", MakeLabels({{"team", "a"}})), c.selected);
  }
}

TEST(PodAffinityTermsTest, ABadTermEmptiesItsListAndSaysWhy) {
  api::Pod pod = MakePod()
                     .PodAffinity("zone", {{"app", "a"}})
                     .PodAntiAffinity("zone", {{"app", "a"}})
                     .PreferPodAffinity(1, "zone", {{"app", "a"}});
  auto& required =
      pod.spec.affinity->pod_affinity->required_during_scheduling_ignored_during_execution;
  required.push_back(required[0]);
  required[1].label_selector->match_expressions = {{"app", "Gt", {}}};
  auto terms = PodAffinityTerms::Make(pod);
  EXPECT_EQ(terms->error, "requiredAffinityTerms: \"Gt\" is not a valid label selector operator");
  EXPECT_TRUE(terms->required_affinity.empty());
  EXPECT_EQ(terms->required_anti_affinity.size(), 1u);
  EXPECT_EQ(terms->preferred_affinity.size(), 1u);

  auto& preferred =
      pod.spec.affinity->pod_affinity->preferred_during_scheduling_ignored_during_execution;
  preferred[0].pod_affinity_term.namespace_selector.emplace().match_expressions = {
      {"team", "In", {}}};
  terms = PodAffinityTerms::Make(pod);
  EXPECT_EQ(terms->error,
            "[requiredAffinityTerms: \"Gt\" is not a valid label selector operator, "
            "preferredAffinityTerms: values: Invalid value: null: for 'in', 'notin' operators, "
            "values set can't be empty]");
}

TEST(PodAffinityTermsTest, TermsHaveTheSameIdentityExactlyWhenTheyAreEqual) {
  std::vector<AffinityTerm> terms(9);
  terms[1].kind = AffinityTermKind::kPreferredAffinity;
  terms[2].weight = 1;
  terms[3].topology_key = "a";
  terms[4].namespaces = {"a"};
  terms[5].namespaces = {"a", ""};
  terms[6].namespace_selector = LabelSelectorMatcher::Everything();
  terms[7].selector = LabelSelectorMatcher::Everything();
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t j = 0; j < terms.size(); ++j) {
      EXPECT_EQ(terms[i].Identity() == terms[j].Identity(), terms[i] == terms[j]) << i << " " << j;
    }
  }
  EXPECT_EQ(terms[0], terms[8]);
}

TEST(PodQueryTest, CountsPodsThatEveryTermMeans) {
  PodTerm named;
  named.namespaces = {"a", "b"};
  named.selector = LabelSelectorMatcher::OfLabels(MakeLabels({{"app", "db"}}));
  PodTerm anywhere;
  anywhere.all_namespaces = true;
  anywhere.selector = LabelSelectorMatcher::OfLabels(MakeLabels({{"tier", "back"}}));
  const PodQuery both{{named, anywhere}, false};
  const PodQuery living{{named, anywhere}, true};

  const auto pod = MakePod().Namespace("b").Label("app", "db").Label("tier", "back");
  EXPECT_TRUE(both.Matches(pod));
  EXPECT_TRUE(living.Matches(pod));
  auto terminating = pod;
  terminating.DeletedAt(Time());
  EXPECT_TRUE(both.Matches(terminating));
  EXPECT_FALSE(living.Matches(terminating));
  auto elsewhere = pod;
  EXPECT_FALSE(both.Matches(elsewhere.Namespace("c")));
  EXPECT_FALSE(both.Matches(MakePod().Namespace("b").Label("app", "db")));
  EXPECT_FALSE(both.Matches(MakePod().Namespace("b").Label("tier", "back")));

  EXPECT_EQ(both.Identity(), PodQuery(both).Identity());
  const PodQuery others[] = {living, {{anywhere, named}, false}, {{named}, false}, {{}, false}};
  for (const PodQuery& other : others) EXPECT_NE(both.Identity(), other.Identity());
}

}  // namespace
}  // namespace berth
