// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/base/text.h"
#include "src/plan/measure.h"
#include "src/plan/search.h"

namespace berth::plan {
namespace {

using engine::Judgement;

// Of the ways to spread the pods, so many are tried.
constexpr size_t kMostAims = 8;

// Spreads the pods of a workload over domains. What is known beforehand of all plans bounds how
// many pods a domain can have: it keeps those that stay, and gets none where no node of it takes
// one, whichever pods move. Each number that the emptiest domain may have is one aim; how many pods
// are too many for it, or too few, is how many moves it needs at least, as a move changes the
// number of one domain by one and that of another.
class SkewSearch final : private Search {
 public:
  SkewSearch(const Goal& goal, Domains domains, simulator::Simulation& simulation,
             const Limits& limits)
      : Search(simulation, limits), goal_(goal), domains_(std::move(domains)) {}

  Plan Find();

 private:
  // How many of the pods a domain may have.
  struct Bounds {
    int64_t least = 0;
    int64_t most = 0;
  };
  struct Aim {
    int64_t moves = 0;  // are needed at least
    std::vector<Bounds> bounds;
  };
  // One of the pods that may go to another domain.
  struct Mover {
    PodPtr pod;  // as it is before the first move
    Importance importance;
    std::pair<PodClassId, uint32_t> kind;  // pods of one kind are alike to plugins
  };
  // Where a pod may be, whichever pods move.
  struct Reach {
    std::vector<char> domains;
    bool outside = false;  // on a node that does not count
    std::string why = {};  // it is nowhere
  };
  // Which domains, by index, give a pod and take it; the last stands for nodes that do not count.
  struct Way {
    std::vector<char> from;
    std::vector<char> to;
  };

  void FindMovers();
  void AddMover(const PodPtr& pod);
  Reach ReachOf(const PodPtr& pod, Mover& mover);
  void AddStaying(const PodPtr& pod, size_t domain, std::string why);
  std::vector<Aim> Aims() const;
  Aim AimFor(int64_t low) const;
  bool SpreadFor(const Aim& aim, Steps& steps);
  std::vector<Way> WaysTo(const Aim& aim, const std::vector<int64_t>& pods) const;
  bool MoveOne(const Way& way, const Aim& aim, bool makes_room, Steps& steps);
  bool Move(const Mover& mover, const Way& way, const Aim& aim, bool makes_room, Steps& steps);
  std::string NodeFor(const PodPtr& pod, const Way& way, bool makes_room, Steps& steps);
  std::vector<int64_t> Count() const;
  size_t DomainOf(const Mover& mover) const;
  std::string WhyImpossible() const;
  void Take(std::vector<plan::Move> moves, Plan& plan);

  size_t num_domains() const { return domains_.values().size(); }

  const Goal& goal_;
  const Domains domains_;
  std::vector<Mover> movers_;
  std::vector<int64_t> before_;  // by domain
  std::vector<int64_t> stay_;    // by domain: those of before_ that leave it in no plan
  std::vector<char> takes_;      // by domain: whether a pod may come
  std::vector<char> asked_;      // by domain: whether that was asked of any pod
  bool all_asked_ = true;        // of each pod that is elsewhere
  int64_t may_come_ = 0;         // pods on nodes that do not count, and may leave these
  int64_t may_leave_ = 0;        // pods that count, and may go to such nodes
  std::vector<LeftOut> staying_;
  std::string why_;  // the first pod that was tried fits nowhere; may be ""
  std::map<std::pair<PodClassId, uint32_t>, Reach> known_;
};

// How far the numbers are from what the aim allows.
int64_t OffBy(const std::vector<int64_t>& pods, const auto& bounds) {
  int64_t off = 0;
  for (size_t i = 0; i < pods.size(); ++i) {
    off += std::max<int64_t>(pods[i] - bounds[i].most, 0);
    off += std::max<int64_t>(bounds[i].least - pods[i], 0);
  }
  return off;
}

// All is judged once the pods that are being deleted have ended: what is said of all plans then
// holds of those before that.
void SkewSearch::FindMovers() {
  before_ = domains_.Count(trial_.simulation());
  stay_.assign(num_domains(), 0);
  takes_.assign(num_domains(), 0);
  asked_.assign(num_domains(), 0);
  const std::vector<PodPtr> pods = PodsMadeBy(goal_.workload, trial_.simulation());
  const size_t before = trial_.depth();
  for (const PodPtr& one : going_) trial_.Remove(*one);
  for (const PodPtr& pod : pods) {
    if (!pod->spec.node_name.empty() && !pod->metadata.deletion_timestamp) AddMover(pod);
  }
  trial_.TakeBackTo(before);
  known_.clear();
}

void SkewSearch::AddMover(const PodPtr& pod) {
  const size_t own = domains_.On(pod->spec.node_name);
  if (std::string why = WhyItStays(*pod); !why.empty()) {
    all_asked_ = false;
    AddStaying(pod, own, std::move(why));
    return;
  }
  Mover mover{.pod = pod, .importance = ImportanceOf(*pod), .kind = {kNoPodClass, 0}};
  const Reach reach = ReachOf(pod, mover);
  bool leaves = false;
  for (size_t i = 0; i < num_domains(); ++i) {
    if (i == own) continue;
    asked_[i] = 1;
    if (reach.domains[i] == 0) continue;
    takes_[i] = 1;
    leaves = true;
  }
  if (own == Domains::kNone) {
    if (leaves) ++may_come_;
  } else if (reach.outside) {
    ++may_leave_;
  } else if (!leaves) {
    AddStaying(pod, own, reach.why.empty() ? "no node of another domain takes it" : reach.why);
  }
  if (leaves) movers_.push_back(std::move(mover));
}

void SkewSearch::AddStaying(const PodPtr& pod, size_t domain, std::string why) {
  if (domain == Domains::kNone) return;
  ++stay_[domain];
  staying_.push_back({pod->metadata.Key(), std::move(why)});
}

// Also sets the mover's kind.
SkewSearch::Reach SkewSearch::ReachOf(const PodPtr& pod, Mover& mover) {
  Reach reach{.domains = std::vector<char>(num_domains(), 1), .outside = true};
  if (trial_.exhausted()) return reach;  // it is not known
  const size_t before = trial_.depth();
  trial_.Remove(*pod);
  const PodPtr again = PendingCopy(*pod, pod->metadata.name);
  const PodInfoPtr info = trial_.InfoOf(again);
  mover.kind = {info->pod_class, info->class_epoch};
  const auto known = known_.find(mover.kind);
  if (known != known_.end() && info->pod_class != kNoPodClass) {
    reach = known->second;
  } else {
    reach = {.domains = std::vector<char>(num_domains(), 0)};
    const auto judgement = trial_.Judge(again);
    const auto see = [&](std::string_view node) {
      const size_t domain = domains_.On(node);
      if (domain == Domains::kNone) {
        reach.outside = true;
      } else {
        reach.domains[domain] = 1;
      }
    };
    if (judgement->kind() == Judgement::Kind::kScheduled ||
        judgement->kind() == Judgement::Kind::kUnschedulable) {
      const Candidates candidates = CandidatesOf(*judgement, again);
      const Snapshot& snapshot = judgement->snapshot();
      for (const NodeRow row : judgement->feasible()) see(snapshot.node(row).metadata.name);
      for (const NodeRow row : candidates.elsewhere) see(snapshot.node(row).metadata.name);
      for (const Candidate& candidate : candidates.nodes) see(candidate.node);
    } else {
      reach.why = MessageOf(*judgement);
    }
    known_.insert_or_assign(mover.kind, reach);
  }
  trial_.TakeBackTo(before);
  return reach;
}

// What the domains may have where the emptiest has so many.
SkewSearch::Aim SkewSearch::AimFor(int64_t low) const {
  Aim aim;
  int64_t too_many = 0;
  int64_t too_few = 0;
  for (size_t i = 0; i < num_domains(); ++i) {
    Bounds bounds{.least = std::max(low, stay_[i]), .most = low + goal_.max_skew};
    if (takes_[i] == 0) bounds.most = std::min(bounds.most, before_[i]);
    too_many += std::max<int64_t>(before_[i] - bounds.most, 0);
    too_few += std::max<int64_t>(bounds.least - before_[i], 0);
    aim.bounds.push_back(bounds);
  }
  aim.moves = std::max(too_many, too_few);
  return aim;
}

// The aims that some plan may reach, those of few moves first.
std::vector<SkewSearch::Aim> SkewSearch::Aims() const {
  std::vector<Aim> aims;
  const int64_t all = std::accumulate(before_.begin(), before_.end(), int64_t{0});
  const int64_t highest = std::ranges::max(before_) + may_come_;
  for (int64_t low = 0; low <= highest; ++low) {
    Aim aim = AimFor(low);
    int64_t least = 0;
    int64_t most = 0;
    bool possible = true;
    for (const Bounds& bounds : aim.bounds) {
      least += bounds.least;
      most += bounds.most;
      possible = possible && bounds.least <= bounds.most;
    }
    if (!possible || least > all + may_come_ || most < all - may_leave_) continue;
    aims.push_back(std::move(aim));
  }
  std::ranges::stable_sort(aims, {}, &Aim::moves);
  return aims;
}

size_t SkewSearch::DomainOf(const Mover& mover) const {
  return domains_.On(trial_.simulation().FindPod(mover.pod->metadata.Key())->spec.node_name);
}

// How many of the pods each domain has by now.
std::vector<int64_t> SkewSearch::Count() const {
  std::vector<int64_t> pods = before_;
  for (const Mover& mover : movers_) {
    const size_t was = domains_.On(mover.pod->spec.node_name);
    const size_t is = DomainOf(mover);
    if (was != Domains::kNone) --pods[was];
    if (is != Domains::kNone) ++pods[is];
  }
  return pods;
}

// Where a pod that is one too many in its domain goes to one that has too few; or, where that is
// not possible, what takes away from the one and gives to the other with two.
std::vector<SkewSearch::Way> SkewSearch::WaysTo(const Aim& aim,
                                                const std::vector<int64_t>& pods) const {
  const size_t size = num_domains() + 1;
  std::vector<char> over(size, 0);
  std::vector<char> under(size, 0);
  std::vector<char> spare(size, 0);
  std::vector<char> room(size, 0);
  spare.back() = 1;
  bool any_over = false;
  bool any_under = false;
  for (size_t i = 0; i < num_domains(); ++i) {
    const Bounds& bounds = aim.bounds[i];
    over[i] = pods[i] > bounds.most ? 1 : 0;
    under[i] = pods[i] < bounds.least ? 1 : 0;
    spare[i] = pods[i] > bounds.least ? 1 : 0;
    room[i] = pods[i] < bounds.most ? 1 : 0;
    any_over = any_over || over[i] != 0;
    any_under = any_under || under[i] != 0;
  }
  std::vector<Way> ways;
  if (any_over && any_under) ways.push_back({over, under});
  if (any_over) ways.push_back({over, room});
  if (any_under) ways.push_back({spare, under});
  return ways;
}

// A node for the pod, which is away, in a domain that the way leads to; the pod is there then. "":
// none was found.
std::string SkewSearch::NodeFor(const PodPtr& pod, const Way& way, bool makes_room, Steps& steps) {
  const auto is_wanted = [&](std::string_view node) {
    const size_t domain = domains_.On(node);
    return domain != Domains::kNone && way.to[domain] != 0;
  };
  std::vector<Candidate> candidates;
  {
    const auto judgement = trial_.Judge(pod);
    const bool fits = judgement->kind() == Judgement::Kind::kScheduled;
    if (!makes_room) {
      std::string node = fits ? BestNode(*judgement, is_wanted) : "";
      if (!fits && why_.empty()) why_ = pod->metadata.Key() + ": " + MessageOf(*judgement);
      if (!node.empty()) trial_.Place(*pod, node);
      return node;
    }
    if (!fits && judgement->kind() != Judgement::Kind::kUnschedulable) return "";
    candidates = CandidatesOf(*judgement, pod).nodes;
  }
  std::erase_if(candidates, [&](const Candidate& one) { return !is_wanted(one.node); });
  candidates.resize(std::min(candidates.size(), kNodesOfOthers));
  for (const Candidate& candidate : candidates) {
    if (MakeRoomOn(candidate.node, pod, limits_.depth, steps)) return candidate.node;
  }
  return "";
}

// Moves the pod the way, and others to make room for it if that is asked for. False: that was not
// possible, or the numbers are no nearer to the aim; then nothing is changed.
bool SkewSearch::Move(const Mover& mover, const Way& way, const Aim& aim, bool makes_room,
                      Steps& steps) {
  const size_t before = trial_.depth();
  const size_t steps_before = steps.size();
  const std::set<std::string> moved_before = moved_;
  const std::string key = mover.pod->metadata.Key();
  const int64_t off = OffBy(Count(), aim.bounds);
  trial_.Remove(*mover.pod);
  const PodPtr again = PendingCopy(*mover.pod, mover.pod->metadata.name);
  // Those that make room go before it does, when its place is not free yet.
  if (makes_room) barred_ = mover.pod->spec.node_name;
  const std::string node = NodeFor(again, way, makes_room, steps);
  barred_.clear();
  if (!node.empty()) {
    moved_.insert(key);
    steps.push_back({mover.pod, node});
    if (OffBy(Count(), aim.bounds) < off) return true;
  }
  trial_.TakeBackTo(before);
  steps.resize(steps_before);
  moved_ = moved_before;
  return false;
}

// Moves one of the pods the way: the least important one that can go, of several that of the
// fullest domain.
bool SkewSearch::MoveOne(const Way& way, const Aim& aim, bool makes_room, Steps& steps) {
  const std::vector<int64_t> pods = Count();
  std::vector<std::pair<const Mover*, int64_t>> sources;
  for (const Mover& mover : movers_) {
    if (moved_.contains(mover.pod->metadata.Key())) continue;
    const size_t domain = std::min(DomainOf(mover), num_domains());
    if (way.from[domain] == 0) continue;
    sources.emplace_back(&mover, domain < num_domains() ? pods[domain] : 0);
  }
  std::ranges::sort(sources, {}, [](const auto& source) {
    return std::tuple(source.first->importance, -source.second, source.first->pod->metadata.Key());
  });
  std::set<std::pair<PodClassId, uint32_t>> tried;
  for (const auto& [mover, beside] : sources) {
    if (trial_.exhausted()) return false;
    if (mover->kind.first != kNoPodClass && !tried.insert(mover->kind).second) continue;
    if (Move(*mover, way, aim, makes_room, steps)) return true;
  }
  return false;
}

// Moves pods until the domains have what the aim allows. False: that was not possible.
bool SkewSearch::SpreadFor(const Aim& aim, Steps& steps) {
  while (true) {
    const std::vector<int64_t> pods = Count();
    if (OffBy(pods, aim.bounds) == 0) return true;
    const std::vector<Way> ways = WaysTo(aim, pods);
    const auto move_one = [&](bool makes_room) {
      return std::ranges::any_of(
          ways, [&](const Way& way) { return MoveOne(way, aim, makes_room, steps); });
    };
    if (!move_one(false) && (limits_.depth == 0 || !move_one(true))) return false;
  }
}

std::string SkewSearch::WhyImpossible() const {
  constexpr size_t kMostNamed = 3;
  if (std::ranges::max(asked_) == 0) return "none of its pods may move";
  std::string closed;
  size_t more = 0;
  for (size_t i = 0, named = 0; i < num_domains(); ++i) {
    if (takes_[i] != 0 || asked_[i] == 0) continue;
    if (named++ < kMostNamed) {
      closed += (closed.empty() ? "" : ", ") + domains_.values()[i];
    } else {
      ++more;
    }
  }
  if (more > 0) closed += " and " + std::to_string(more) + " more";
  if (closed.empty()) return "whichever pods move";
  return std::string("whichever pods move: no pod ") + (all_asked_ ? "" : "that may move ") +
         "may be placed in " + closed;
}

// The cluster is as it is after these moves.
void SkewSearch::Take(std::vector<plan::Move> moves, Plan& plan) {
  const std::vector<int64_t> pods = domains_.Count(trial_.simulation());
  plan.outcome = Plan::Outcome::kFound;
  plan.moves = std::move(moves);
  plan.after = SkewOf(pods);
  for (size_t i = 0; i < num_domains(); ++i) plan.domains[i].after = pods[i];
}

Plan SkewSearch::Find() {
  Plan plan{.goal = goal_};
  const std::vector<int64_t> pods = domains_.Count(trial_.simulation());
  plan.before = plan.after = SkewOf(pods);
  for (size_t i = 0; i < num_domains(); ++i) {
    plan.domains.push_back({domains_.values()[i], pods[i], pods[i]});
  }
  if (plan.before <= goal_.max_skew) {
    Take({}, plan);
    return plan;
  }
  FindMovers();
  const std::vector<Aim> aims = Aims();
  if (aims.empty()) {
    plan.outcome = Plan::Outcome::kImpossible;
    plan.why = WhyImpossible();
    plan.left_out = std::move(staying_);
    Finish(plan);
    return plan;
  }
  plan.fewest = static_cast<size_t>(aims.front().moves);
  std::optional<Cost> best;
  std::string why = "no moves were found";
  for (size_t i = 0; i < std::min(aims.size(), kMostAims) && !trial_.exhausted(); ++i) {
    if (best && static_cast<size_t>(aims[i].moves) > best->moves) break;
    Steps steps;
    const bool found = SpreadFor(aims[i], steps);
    trial_.TakeBackTo(0);
    moved_.clear();
    Cost cost = CostOf(steps);
    if (!found || (best && cost >= *best)) continue;
    std::vector<plan::Move> moves;
    if (Replay(steps, moves)) {
      Take(std::move(moves), plan);
      best = std::move(cost);
    } else if (!best) {
      why = kNoOrder;
    }
    trial_.TakeBackTo(0);
  }
  if (!best) plan.why = why_.empty() ? why : why + ": " + why_;
  Finish(plan);
  return plan;
}

}  // namespace

Result<Plan> FindSpread(const Goal& goal, simulator::Simulation& simulation, const Limits& limits) {
  auto domains = Domains::Of(goal, simulation);
  if (!domains) return Fail(domains.error());
  return SkewSearch(goal, *std::move(domains), simulation, limits).Find();
}

}  // namespace berth::plan
