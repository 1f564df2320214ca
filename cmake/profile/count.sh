#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# count.sh <build folder of the preset profile>: counts branches for the releases' compiler, into cmake/profile/berth.profdata.
# It runs all workloads of the engine, and the daemon's road on a real control plane: pods that come one after the other,
# Deployments whose pods become Ready, and a start with pods that are there.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly BUILD=$1
readonly COUNTS=$BUILD/counts

rm -rf "$COUNTS"
export LLVM_PROFILE_FILE=$COUNTS/%p.profraw
"$BUILD/bin/engine_bench" --limit 3000 >&2
BERTH_BINARY=$BUILD/bin/berth go -C tests run ./bench -schedulers berth -rounds 1 -workload plain,deployments -variants pending,stream \
  -nodes 1000 -pods 5000 >&2
# What is seldom called is compiled as without counts: it may be what was not tried here.
llvm-profdata-19 merge -text -sparse -o "$COUNTS/all.proftext" "$COUNTS"/*.profraw
awk -v least=1000 -f cmake/profile/keep.awk "$COUNTS/all.proftext" >"$COUNTS/kept.proftext"
llvm-profdata-19 merge -o cmake/profile/berth.profdata "$COUNTS/kept.proftext"
