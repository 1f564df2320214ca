#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh <fuzzers> <found> <seconds> <jobs>: runs each fuzzer of the folder for so many seconds, and prints a line for each.
# What it finds to be new is kept in <found>, for the next run; the tree's seeds stay as they are.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly FUZZERS=$1 FOUND=$2 SECONDS_EACH=$3 JOBS=$4

fuzz_one() {
  local name=${1#fuzz_} spent
  local found=$FOUND/$name
  mkdir -p "$found"
  # On a busy machine a fuzzer gets a part of a core, and what counts is what it got.
  spent=$({
    TIMEFORMAT=%U
    time "$FUZZERS/$1" -max_total_time="$SECONDS_EACH" -print_final_stats=1 -artifact_prefix="$found-" "$found" \
      "tests/fuzz/corpus/$name" >"$found.log" 2>&1
  } 2>&1) || { tail -n 40 "$found.log"; return 1; }
  printf '%-15s %8s inputs in %s s of CPU\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$found.log")" "$spent"
}

export FUZZERS FOUND SECONDS_EACH
export -f fuzz_one
# shellcheck disable=SC2016
find "$FUZZERS" -maxdepth 1 -name 'fuzz_*' -executable -type f -printf '%f\n' | sort |
  xargs -P "$JOBS" -I{} bash -c 'fuzz_one "$1"' fuzz_one {}
