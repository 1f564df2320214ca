// SPDX-License-Identifier: Apache-2.0
// The engine's benchmark; Usage() says how it is called.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "src/app/commands/terminal.h"
#include "src/base/logging.h"
#include "tests/bench/engine/questions_story.h"
#include "tests/bench/engine/report.h"
#include "tests/bench/engine/run_workload.h"
#include "tests/bench/engine/stories.h"

namespace berth::bench {
namespace {

constexpr std::string_view kFolder = "tests/bench/engine/workloads";

void Usage(std::ostream& out) {
  out << R"(engine_bench [-o table|json] [--twin] [--plain] [--limit N] [--list] [WORKLOAD[/SIZE]...]

Runs workloads of )"
      << kFolder << R"(, all of them when none is named, each in the first of its
sizes when none is named; and Preemption, Starvation and Questions. Those that have a peer run in turn
with it, five times.

  --twin      also by plain evaluation, and compare where pods went
  --plain     only by plain evaluation
  --limit N   measure the first N pods of each workload; --twin takes 1000 unless told otherwise
  --record FOLDER   record what the scheduler is told and decides, for `berth replay`
  --list      what there is
)";
}

// A benchmark that is no file.
struct Story {
  std::string name;
  std::string about;
  std::function<std::vector<Figure>()> run;
};

std::vector<Story> Stories() {
  return {
      {"Preemption", "5,000 nodes full of 20,000 unimportant pods, 5,000 important ones come",
       [] { return Preemption({5000, 20'000, 5000}); }},
      {"Starvation", "1,000 nodes, 1,000 pods that fit among 10,000 that do not",
       [] { return Starvation({1000, 10'000, 1000}); }},
      {"Questions", "what if, asked of 5,000 nodes with 50,000 pods",
       [] { return Questions({5000, 50'000, 2000}); }},
  };
}

struct Arguments {
  bool json = false;
  bool twin = false;
  bool plain = false;
  bool list = false;
  size_t limit = 0;
  std::string record;
  std::vector<std::string> wanted;
};

std::optional<Arguments> ParseArguments(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool has_value = i + 1 < words.size();
    if (word == "-o" && has_value && (words[i + 1] == "table" || words[i + 1] == "json")) {
      arguments.json = words[++i] == "json";
    } else if (word == "--twin") {
      arguments.twin = true;
    } else if (word == "--plain") {
      arguments.plain = true;
    } else if (word == "--list") {
      arguments.list = true;
    } else if (word == "--limit" && has_value) {
      arguments.limit = std::strtoul(words[++i].c_str(), nullptr, 10);
    } else if (word == "--record" && has_value) {
      arguments.record = words[++i];
    } else if (word.starts_with("-")) {
      return std::nullopt;
    } else {
      arguments.wanted.push_back(word);
    }
  }
  return arguments;
}

Result<std::vector<Workload>> ReadWorkloads() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, error)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  if (error) return Fail(std::string(kFolder) + ": " + error.message());
  std::sort(files.begin(), files.end());
  std::vector<Workload> workloads;
  for (const std::string& file : files) {
    auto workload = ReadWorkload(file);
    if (!workload) return Fail(workload.error());
    workloads.push_back(*std::move(workload));
  }
  return workloads;
}

Result<Measurement> RunWithProgress(const Workload& workload, const Size& size,
                                    RunOptions options) {
  std::unique_ptr<app::Progress> bar;
  std::string shown;
  options.progress = [&](const std::string& what, size_t done, size_t of) {
    if (std::exchange(shown, what) != what) {
      bar = std::make_unique<app::Progress>(workload.name + ": " + what);
    }
    bar->Show(done, of);
  };
  return RunWorkload(workload, size, options);
}

Result<ReportedRun> RunOne(const std::vector<Workload>& workloads, const Workload& workload,
                           const Size& size, const Arguments& arguments) {
  constexpr size_t kTwinLimit = 1000;
  ReportedRun run{workload.name, size.name, size.threshold, {}, std::nullopt, true, std::nullopt};
  auto measured = RunWithProgress(workload, size,
                                  {arguments.plain, arguments.limit, nullptr, arguments.record});
  if (!measured) return Fail(measured.error());
  run.measurement = *measured;
  const auto peer = PeerOf(workload, workloads);
  if (!peer) return Fail(peer.error());
  if (*peer) {
    auto pair = RunPair(workload, **peer, size, {arguments.plain, arguments.limit, nullptr});
    if (!pair) return Fail(pair.error());
    run.pair = ReportedPair{*workload.peer, *pair};
  }
  if (!arguments.twin) return run;
  const size_t limit = arguments.limit == 0 ? kTwinLimit : arguments.limit;
  auto twin = RunWithProgress(workload, size, {true, limit, nullptr});
  auto like_twin = RunWithProgress(workload, size, {false, limit, nullptr});
  if (!twin) return Fail(twin.error());
  if (!like_twin) return Fail(like_twin.error());
  run.twin = *twin;
  run.alike = twin->fingerprint == like_twin->fingerprint;
  return run;
}

void Print(const Story& story, bool json) {
  if (!json) std::printf("%s: %s\n", story.name.c_str(), story.about.c_str());
  for (const Figure& figure : story.run()) {
    if (json) {
      std::printf("{\"workload\":\"%s\",\"what\":\"%s\",\"value\":%g,\"unit\":\"%s\"}\n",
                  figure.workload.c_str(), figure.what.c_str(), figure.value, figure.unit.c_str());
    } else {
      std::printf("  %-36s %12.1f %s\n", figure.what.c_str(), figure.value, figure.unit.c_str());
    }
  }
}

void List(const std::vector<Workload>& workloads) {
  for (const Workload& workload : workloads) {
    std::printf("%s: %s\n", workload.name.c_str(), workload.about.c_str());
    for (const Size& size : workload.sizes) std::printf("    %s\n", size.name.c_str());
  }
  for (const Story& story : Stories()) {
    std::printf("%s: %s\n", story.name.c_str(), story.about.c_str());
  }
}

int Complain(const std::string& what) {
  std::cerr << "engine_bench: " << what << '\n';
  return 2;
}

// 1: a pod found no place, or the twin placed pods otherwise.
int RunAll(const std::vector<Workload>& workloads,
           const std::vector<std::pair<const Workload*, const Size*>>& chosen,
           const Arguments& arguments) {
  int exit_code = 0;
  const auto print = [](const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  };
  if (!chosen.empty()) print(arguments.json ? JsonHead() : TableHead());
  for (const auto& [workload, size] : chosen) {
    const auto run = RunOne(workloads, *workload, *size, arguments);
    if (!run) return Complain(run.error().message);
    print(arguments.json ? JsonLine(*run) : TableLine(*run));
    if (!run->alike || run->measurement.bound < run->measurement.measured) exit_code = 1;
  }
  if (!chosen.empty() && !arguments.json) print(TableFoot());
  return exit_code;
}

int Main(const std::vector<std::string>& words) {
  const auto arguments = ParseArguments(words);
  if (!arguments) {
    Usage(std::cerr);
    return 2;
  }
  base::LogOptions quiet;
  quiet.verbosity = -1;
  base::SetUpLogging(quiet);
  const auto workloads = ReadWorkloads();
  if (!workloads) return Complain(workloads.error().message);
  if (arguments->list) {
    List(*workloads);
    return 0;
  }
  std::vector<std::pair<const Workload*, const Size*>> chosen;
  std::vector<Story> stories;
  if (arguments->wanted.empty()) {
    for (const Workload& workload : *workloads)
      chosen.emplace_back(&workload, workload.sizes.data());
    stories = Stories();
  }
  for (const std::string& wanted : arguments->wanted) {
    const std::string name = wanted.substr(0, wanted.find('/'));
    const auto workload = std::find_if(workloads->begin(), workloads->end(),
                                       [&](const Workload& one) { return one.name == name; });
    if (workload != workloads->end()) {
      const Size* size = name == wanted ? workload->sizes.data()
                                        : workload->FindSize(wanted.substr(name.size() + 1));
      if (size == nullptr) return Complain("there is no size " + wanted);
      chosen.emplace_back(&*workload, size);
      continue;
    }
    const size_t before = stories.size();
    for (Story& story : Stories()) {
      if (story.name == wanted) stories.push_back(std::move(story));
    }
    if (stories.size() == before) return Complain("there is no workload " + wanted);
  }
  const int exit_code = RunAll(*workloads, chosen, *arguments);
  for (const Story& story : stories) Print(story, arguments->json);
  return exit_code;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) { return berth::bench::Main({argv + 1, argv + argc}); }
