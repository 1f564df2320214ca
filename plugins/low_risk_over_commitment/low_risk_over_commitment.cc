// SPDX-License-Identifier: Apache-2.0
#include "plugins/low_risk_over_commitment/low_risk_over_commitment.h"

#include <math.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "berth/saturating.h"
#include "plugins/shared/node_metrics_args.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kSmoothingWindowSize = "smoothingWindowSize";
constexpr std::string_view kRiskLimitWeights = "riskLimitWeights";

struct RawOverCommitmentArgs {
  NodeMetricsArgs metrics;
  int64_t smoothing_window_size = 0;
  std::vector<std::pair<std::string, double>> weights;  // by resource
};

std::optional<double> NumberOf(const ConfigValue& value) {
  if (const int64_t* whole = value.integer()) return static_cast<double>(*whole);
  if (const double* real = value.real()) return *real;
  return std::nullopt;
}

bool IsWeight(double number) { return number >= 0 && number <= 1; }

void ReadWeights(FieldReader& fields, RawOverCommitmentArgs& args) {
  const ConfigValue* weights = fields.Get(kRiskLimitWeights);
  if (weights == nullptr) return;
  if (weights->map() == nullptr) {
    fields.Invalid(kRiskLimitWeights, weights->ToJson(), "must be a map of numbers by resource");
    return;
  }
  for (const auto& [resource, value] : *weights->map()) {
    const std::optional<double> number = NumberOf(value);
    if (number) {
      args.weights.emplace_back(resource, *number);
    } else {
      fields.Invalid(std::string(kRiskLimitWeights) + "." + resource, value.ToJson(),
                     "must be a number");
    }
  }
}

RawOverCommitmentArgs ReadOverCommitmentArgs(FieldReader& fields) {
  RawOverCommitmentArgs args;
  args.metrics = ReadNodeMetricsArgs(fields);
  fields.Read(kSmoothingWindowSize, args.smoothing_window_size);
  ReadWeights(fields, args);
  return args;
}

std::vector<std::string> OverCommitmentProblems(const RawOverCommitmentArgs& args,
                                                const std::string& path) {
  return NodeMetricsProblems(args.metrics, path);
}

LowRiskOverCommitmentArgs OverCommitmentArgsOf(const RawOverCommitmentArgs& raw) {
  LowRiskOverCommitmentArgs args;
  args.source = SourceOf(raw.metrics);
  if (raw.smoothing_window_size > 0) args.smoothing_window_size = raw.smoothing_window_size;
  for (const auto& [resource, weight] : raw.weights) {
    if (!IsWeight(weight)) continue;
    if (resource == "cpu") args.cpu_limit_weight = weight;
    if (resource == "memory") args.memory_limit_weight = weight;
  }
  return args;
}

ConfigValue WithOverCommitmentDefaults(const ConfigValue& args, const ArgsFeatures&) {
  const LowRiskOverCommitmentArgs defaults;
  ConfigValue out = NodeMetricsArgsWithDefaults(args);
  const ConfigValue* size = out.Find(kSmoothingWindowSize);
  if (size == nullptr || (size->integer() != nullptr && *size->integer() <= 0)) {
    out = WithField(out, kSmoothingWindowSize, ConfigValue(defaults.smoothing_window_size));
  }
  ConfigValue::Map weights;
  const ConfigValue* given = out.Find(kRiskLimitWeights);
  if (given != nullptr && given->map() == nullptr) return out;  // which is a problem of its own
  if (given != nullptr) weights = *given->map();
  if (weights.empty()) {
    weights = {{"cpu", ConfigValue(defaults.cpu_limit_weight)},
               {"memory", ConfigValue(defaults.memory_limit_weight)}};
  }
  for (auto& [resource, weight] : weights) {
    const std::optional<double> number = NumberOf(weight);
    if (number && !IsWeight(*number)) weight = ConfigValue(defaults.cpu_limit_weight);
  }
  return WithField(out, kRiskLimitWeights, ConfigValue(std::move(weights)));
}

// The beta distribution needs a variance below mean * (1 - mean).
constexpr double kMostOfVariance = 0.99;
// From here on a normal distribution with the same skew is as good, and takes no longer.
constexpr double kNearlyNormal = 1e5;

double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz' method. It
// converges for x < (a + 1) / (a + b + 2), in a number of steps that grows as the root of a + b.
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-15;
  constexpr int kMostSteps = 2000;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double numerator = 1;
  double denominator = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double fraction = denominator;
  for (int m = 1; m <= kMostSteps; ++m) {
    const double twice = a + 2 * m;
    const double even = m * (b - m) * x / ((twice - 1) * twice);
    denominator = 1 / not_zero(1 + even * denominator);
    numerator = not_zero(1 + even / numerator);
    fraction *= denominator * numerator;
    const double odd = -(a + m) * (a + b + m) * x / (twice * (twice + 1));
    denominator = 1 / not_zero(1 + odd * denominator);
    numerator = not_zero(1 + odd / numerator);
    const double factor = denominator * numerator;
    fraction *= factor;
    if (std::abs(factor - 1) < kEnough) break;
  }
  return fraction;
}

// Logarithms of the gamma function, of the parameters of a beta distribution.
struct BetaLogs {
  double a = 0;
  double b = 0;
  double of_sum = 0;
  double of_a = 0;
  double of_b = 0;
};

// Each distribution is mostly asked twice: below the requests and below the limits.
const BetaLogs& LogsOf(double a, double b) {
  thread_local BetaLogs last;
  if (last.a != a || last.b != b) last = {a, b, LogGamma(a + b), LogGamma(a), LogGamma(b)};
  return last;
}

double WorkOutBeta(double a, double b, double x) {
  const BetaLogs& logs = LogsOf(a, b);
  const double front =
      std::exp(a * std::log(x) + b * std::log1p(-x) + logs.of_sum - logs.of_a - logs.of_b);
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

// What was worked out of late: a node that has changed is scored for each class of pods, with what
// its own pods ask for and with what is measured there, and alike nodes are, too.
struct KnownBeta {
  double a = 0;  // 0: nothing is known
  double b = 0;
  double x = 0;
  double value = 0;
};
constexpr int kKnownBetaBits = 8;

// I_x(a, b) for x between 0 and 1, both excluded; a and b are above 0.
double IncompleteBeta(double a, double b, double x) {
  thread_local std::array<KnownBeta, size_t{1} << kKnownBetaBits> all_known;
  // Odd factors spread what differs over all bits.
  const auto bits = [](double number, uint64_t odd) {
    return std::bit_cast<uint64_t>(number) * odd;
  };
  const uint64_t mixed =
      bits(a, 0x9e3779b97f4a7c15) ^ bits(b, 0xc2b2ae3d27d4eb4f) ^ bits(x, 0x165667b19e3779f9);
  KnownBeta& known =
      all_known[(mixed ^ (mixed >> 32)) * 0x9e3779b97f4a7c15 >> (64 - kKnownBetaBits)];
  if (known.a != a || known.b != b || known.x != x) known = {a, b, x, WorkOutBeta(a, b, x)};
  return known.value;
}

// The same by the normal distribution, with Edgeworth's term for the skew.
double NearlyNormal(double a, double b, double mean, double deviation, double x) {
  const double z = (x - mean) / deviation;
  const double skew = 2 * (b - a) * std::sqrt(a + b + 1) / ((a + b + 2) * std::sqrt(a * b));
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return std::erfc(-z / std::numbers::sqrt2) / 2 - skew / 6 * (z * z - 1) * density;
}

// Of one resource of a node: what its pods request and may use at most, without the new pod and
// with it, and what is allocatable. What is requested counts up to that.
struct Commitment {
  int64_t requested = 0;
  int64_t limit = 0;
  int64_t requested_with_pod = 0;
  int64_t limit_with_pod = 0;
  int64_t allocatable = 0;
};

Commitment CommitmentOf(int64_t requested, int64_t limit, int64_t pod_request, int64_t pod_limit,
                        int64_t allocatable) {
  return {.requested = std::min(requested, allocatable),
          .limit = limit,
          .requested_with_pod = std::min(SumSaturated(requested, pod_request), allocatable),
          .limit_with_pod = SumSaturated(limit, pod_limit),
          .allocatable = allocatable};
}

// How much of what the limits grant beyond the requests the node does not have.
double RiskOfLimits(const Commitment& of) {
  if (of.limit_with_pod <= of.allocatable) return 0;
  const int64_t beyond = DifferenceSaturated(of.limit_with_pod, of.allocatable);
  const int64_t granted = DifferenceSaturated(of.limit_with_pod, of.requested_with_pod);
  return static_cast<double>(beyond) / static_cast<double>(granted);
}

// How likely the pods that are there use more than they request, given that they stay within their
// limits.
double RiskOfLoad(const Commitment& of, const LoadShare& load) {
  if (of.allocatable <= 0) return 0;
  // A node without pods: nothing has to be worked out.
  if (of.limit == 0 && of.requested <= 0) return 0;
  const LoadDistribution distribution(load.mean, load.deviation);
  const auto share = [&of](int64_t amount) {
    return std::clamp(static_cast<double>(amount) / static_cast<double>(of.allocatable), 0.0, 1.0);
  };
  double within = distribution.AtMost(share(of.requested));
  if (of.limit < of.allocatable && of.requested <= of.limit) {
    if (of.limit == 0) {
      within = 1;
    } else if (distribution.varies()) {
      const double within_limits = distribution.AtMost(share(of.limit));
      if (within_limits > 0) within = std::min(within / within_limits, 1.0);
    }
  }
  return 1 - within;
}

}  // namespace

constexpr ArgsKind<LowRiskOverCommitmentArgs> kLowRiskOverCommitmentArgs =
    MakeArgsKind<"LowRiskOverCommitment", ReadOverCommitmentArgs, OverCommitmentProblems,
                 OverCommitmentArgsOf>(WithOverCommitmentDefaults);

LoadDistribution::LoadDistribution(double mean, double deviation)
    : mean_(mean), deviation_(std::min(deviation, std::sqrt(kMostOfVariance * mean * (1 - mean)))) {
  const double variance = deviation_ * deviation_;
  // A deviation that is lost beside the mean is none, also where its square is not 0 yet.
  if (!(variance > mean * mean * 1e-15)) return;
  const double size = mean * (1 - mean) / variance - 1;
  alpha_ = mean * size;
  beta_ = (1 - mean) * size;
}

double LoadDistribution::AtMost(double share) const {
  if (mean_ == 0) return 1;
  if (!varies()) return mean_ <= share ? 1 : 0;
  if (share <= 0) return 0;
  if (share >= 1) return 1;
  const double probability = alpha_ + beta_ > kNearlyNormal
                                 ? NearlyNormal(alpha_, beta_, mean_, deviation_, share)
                                 : IncompleteBeta(alpha_, beta_, share);
  return std::max(std::min(probability, 1.0), 0.0);
}

LowRiskOverCommitment::LowRiskOverCommitment(const LowRiskOverCommitmentArgs& args, Handle& handle)
    : args_(args),
      smoothing_(std::sqrt(static_cast<double>(args.smoothing_window_size))),
      measured_(handle.WatchNodeMetrics(args.source)) {}

Inputs LowRiskOverCommitment::DeclaredInputs() const {
  return Inputs::Of(pod_part::kRequests | pod_part::kLimits,
                    {{Reach::kNode}, {Reach::kUsage}, {Reach::kMeasured}});
}

LowRiskOverCommitment::PodDemand LowRiskOverCommitment::DemandOf(const api::Pod& pod) {
  PodDemand demand{TrimaranRequests(pod), TrimaranLimits(pod)};
  demand.limits.milli_cpu = std::max(demand.limits.milli_cpu, demand.requests.milli_cpu);
  demand.limits.memory = std::max(demand.limits.memory, demand.requests.memory);
  return demand;
}

Status LowRiskOverCommitment::PreScore(CycleState& state, const PodInfo& pod, const Snapshot&,
                                       const NodeSet&) {
  const PodDemand demand = DemandOf(*pod.pod);
  if (demand.limits.zero()) return Status::Skip();
  state.Write(demand);
  return Status::Success();
}

int64_t LowRiskOverCommitment::ScoreOf(const PodDemand& pod, const NodeView& node,
                                       const MeasuredNodeReader& reader) const {
  if (pod.limits.zero()) return kMinNodeScore;
  const MeasuredNode known = reader.Read(node.row());
  if (known.measured == nullptr) return kMinNodeScore;
  const NodeMetrics& measured = *known.measured;
  PodDemand sum;
  node.ForEachPod([&sum](const PodInfo& placed) {
    const PodDemand more = DemandOf(*placed.pod);
    sum.requests.milli_cpu = SumSaturated(sum.requests.milli_cpu, more.requests.milli_cpu);
    sum.requests.memory = SumSaturated(sum.requests.memory, more.requests.memory);
    sum.limits.milli_cpu = SumSaturated(sum.limits.milli_cpu, more.limits.milli_cpu);
    sum.limits.memory = SumSaturated(sum.limits.memory, more.limits.memory);
  });
  const auto risk = [this](const Commitment& of, const MeasuredResource& resource,
                           const MeasuredLoad& measured_load, double limit_weight) {
    double of_load = 0;
    if (resource.known) {
      LoadShare load = LoadShareOf(measured_load, 0);
      load.deviation *= smoothing_;
      of_load = RiskOfLoad(of, load);
    }
    return std::clamp(limit_weight * RiskOfLimits(of) + (1 - limit_weight) * of_load, 0.0, 1.0);
  };
  const auto& [cpu, memory] = known.allocatable;
  const double of_cpu = risk(CommitmentOf(sum.requests.milli_cpu, sum.limits.milli_cpu,
                                          pod.requests.milli_cpu, pod.limits.milli_cpu, cpu),
                             measured.cpu, MeasuredCpu(measured.cpu, cpu), args_.cpu_limit_weight);
  const double of_memory =
      risk(CommitmentOf(sum.requests.memory, sum.limits.memory, pod.requests.memory,
                        pod.limits.memory, memory),
           measured.memory, MeasuredMemory(measured.memory, memory), args_.memory_limit_weight);
  return RoundedScore((1 - std::max(of_cpu, of_memory)) * static_cast<double>(kMaxNodeScore));
}

ScoreResult LowRiskOverCommitment::Score(const CycleState& state, const PodInfo& pod,
                                         const NodeView& node) const {
  const auto demand = state.ReadOr<PodDemand>([&] { return DemandOf(*pod.pod); });
  return {ScoreOf(*demand, node, MeasuredNodeReader(measured_, node.snapshot()))};
}

void LowRiskOverCommitment::ScoreNodes(const CycleState& state, const PodInfo& pod,
                                       const Snapshot& snapshot, std::span<const NodeRow> nodes,
                                       std::span<int64_t> scores) const {
  const auto demand = state.ReadOr<PodDemand>([&] { return DemandOf(*pod.pod); });
  const MeasuredNodeReader reader(measured_, snapshot);
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = ScoreOf(*demand, NodeView(snapshot, nodes[i]), reader);
  }
}

}  // namespace berth::plugins
