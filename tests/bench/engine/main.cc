// SPDX-License-Identifier: Apache-2.0
// The engine's benchmark: `engine_bench [-o table|json] [workload...]`.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "src/base/logging.h"
#include "tests/bench/engine/workloads.h"

namespace berth::bench {
namespace {

struct Workload {
  std::string name;
  std::string about;
  std::function<std::vector<Figure>()> run;
};

std::vector<Workload> Workloads() {
  return {
      {"Preemption", "5,000 nodes full of 20,000 unimportant pods, 5,000 important ones come",
       [] { return Preemption({5000, 20'000, 5000}); }},
      {"Starvation", "1,000 nodes, 1,000 pods that fit among 10,000 that do not",
       [] { return Starvation({1000, 10'000, 1000}); }},
  };
}

void Print(const std::vector<Figure>& figures, bool json) {
  for (const Figure& figure : figures) {
    if (json) {
      std::printf("{\"workload\":\"%s\",\"what\":\"%s\",\"value\":%g,\"unit\":\"%s\"}\n",
                  figure.workload.c_str(), figure.what.c_str(), figure.value, figure.unit.c_str());
    } else {
      std::printf("  %-36s %12.1f %s\n", figure.what.c_str(), figure.value, figure.unit.c_str());
    }
  }
}

int Main(const std::vector<std::string>& arguments) {
  bool json = false;
  std::vector<std::string> wanted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-o" && i + 1 < arguments.size()) {
      json = arguments[++i] == "json";
    } else {
      wanted.push_back(arguments[i]);
    }
  }
  const std::vector<Workload> workloads = Workloads();
  for (const std::string& name : wanted) {
    if (std::none_of(workloads.begin(), workloads.end(),
                     [&](const Workload& workload) { return workload.name == name; })) {
      std::cerr << "engine_bench: there is no workload " << name << '\n';
      return 2;
    }
  }
  base::LogOptions quiet;
  quiet.verbosity = -1;
  base::SetUpLogging(quiet);
  for (const Workload& workload : workloads) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), workload.name) == wanted.end()) {
      continue;
    }
    if (!json) std::printf("%s: %s\n", workload.name.c_str(), workload.about.c_str());
    Print(workload.run(), json);
  }
  return 0;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) { return berth::bench::Main({argv + 1, argv + argc}); }
