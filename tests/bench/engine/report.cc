// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/report.h"

#include <array>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <thread>

#include "src/base/clock.h"

namespace berth::bench {
namespace {

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...) {
  std::array<char, 1024> text{};
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  return text.data();
}

double PodsASecond(double pods, double seconds) { return seconds > 0 ? pods / seconds : 0; }
double Loop(const Measurement& m) { return PodsASecond(static_cast<double>(m.bound), m.loop); }
double Thread(const Measurement& m) { return PodsASecond(static_cast<double>(m.bound), m.thread); }
double Decisions(const Measurement& m) {
  return PodsASecond(static_cast<double>(m.decisions), m.deciding);
}

std::string Left(const Measurement& m) {
  return m.bound == m.measured ? "" : Format("  %zu of %zu bound", m.bound, m.measured);
}

std::string MembersOf(const Measurement& m) {
  return Format(
      "\"nodes\":%zu,\"podsBefore\":%zu,\"pods\":%zu,\"bound\":%zu,\"podsPerSecond\":%.1f,"
      "\"podsPerSecondOfThread\":%.1f,\"decisionsPerSecond\":%.1f,\"decisions\":%zu,"
      "\"decisionP50Microseconds\":%.2f,\"decisionP99Microseconds\":%.2f,\"bytesPerNode\":%.0f,"
      "\"bytesPerPod\":%.0f,\"placement\":\"%016llx\"",
      m.nodes, m.there, m.measured, m.bound, Loop(m), Thread(m), Decisions(m), m.decisions,
      m.p50 * 1e6, m.p99 * 1e6, m.bytes_per_node, m.bytes_per_pod,
      static_cast<unsigned long long>(m.fingerprint));
}

std::string NameOf(const Peer& peer) {
  return peer.workload.empty() ? "the default configuration" : peer.workload;
}

std::string LineOf(const ReportedPair& reported) {
  const double cost = reported.pair.cost();
  return Format("%-46s %-24s %9.0f  a pod costs %.2f times that, %s %g\n",
                ("  beside " + NameOf(reported.peer)).c_str(), "best of five, in turn",
                Loop(reported.pair.peer), cost,
                cost > reported.peer.costs_at_most ? "MORE THAN" : "at most",
                reported.peer.costs_at_most);
}

std::string FirstModelName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

}  // namespace

std::string TableHead() {
  return Format("%-46s %-24s %9s %9s %11s %9s %9s %7s %6s %9s\n", "WORKLOAD", "SIZE", "pods/s",
                "thread", "decisions/s", "p50", "p99", "B/node", "B/pod", "upstream");
}

std::string TableLine(const ReportedRun& run) {
  const Measurement& m = run.measurement;
  std::string line =
      Format("%-46s %-24s %9.0f %9.0f %11.0f %6.1f us %6.1f us %7.0f %6.0f", run.workload.c_str(),
             run.size.c_str(), Loop(m), Thread(m), Decisions(m), m.p50 * 1e6, m.p99 * 1e6,
             m.bytes_per_node, m.bytes_per_pod);
  if (run.threshold > 0) {
    line += Format(" %6.1f x", Loop(m) / static_cast<double>(run.threshold));
  }
  line += Left(m) + "\n";
  if (run.twin) {
    const Measurement& t = *run.twin;
    line += Format("%-46s %-24s %9.0f %9.0f %11.0f %6.1f us %6.1f us%s\n", "  plain evaluation",
                   Format("first %zu pods", t.measured).c_str(), Loop(t), Thread(t), Decisions(t),
                   t.p50 * 1e6, t.p99 * 1e6, run.alike ? "" : "  PLACED OTHERWISE");
  }
  if (run.pair) line += LineOf(*run.pair);
  return line;
}

std::string TableFoot() {
  return R"(
pods/s: from a pod's add message to the applied watch event of its bind, the API in memory included.
thread: of that, what the daemon's scheduling thread does. decisions/s: filtering, scoring, choosing.
p50, p99: how long a decision takes. B: heap, the API object included. upstream: pods/s by the rate that
kube-scheduler's own benchmark asks for in this workload.
)";
}

std::string JsonHead() {
  const auto day = std::chrono::floor<std::chrono::days>(base::RealClock().Now());
  const std::chrono::year_month_day date(std::chrono::time_point_cast<std::chrono::days>(day));
  return Format("{\"kind\":\"engine\",\"date\":\"%04d-%02u-%02u\",\"machine\":\"%u CPUs (%s)\"}\n",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), std::thread::hardware_concurrency(),
                FirstModelName().c_str());
}

std::string JsonLine(const ReportedRun& run) {
  std::string line = Format("{\"workload\":\"%s\",\"size\":\"%s\",\"threshold\":%zu,",
                            run.workload.c_str(), run.size.c_str(), run.threshold);
  line += MembersOf(run.measurement);
  if (run.twin) {
    line += ",\"plain\":{" + MembersOf(*run.twin) + "},\"placedAlike\":";
    line += run.alike ? "true" : "false";
  }
  if (run.pair) {
    line +=
        Format(",\"beside\":{\"workload\":\"%s\",\"cost\":%.3f,\"costsAtMost\":%g,",
               NameOf(run.pair->peer).c_str(), run.pair->pair.cost(), run.pair->peer.costs_at_most);
    line += MembersOf(run.pair->pair.peer) + "}";
  }
  return line + "}\n";
}

}  // namespace berth::bench
