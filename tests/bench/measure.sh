#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# measure.sh <engine_bench> <berth> <folder for what is under way>: measures all that docs/performance.md shows, into
# tests/bench/results. It takes hours, on a machine that has nothing else to do.
set -euo pipefail
readonly ENGINE=$1 ASIDE=$3
export BERTH_BINARY=$2
cd "$(dirname "$0")/.."

# To the side first: what is cut short must not replace what was measured before.
"$ENGINE" --twin -o json >"$ASIDE/engine.json"
# How the cost of a pod grows with the nodes, and with the pods.
"$ENGINE" -o json SchedulingBasic/{1000Nodes_10000Pods,100000Nodes_10000Pods,100000Nodes_1000000Pods} >>"$ASIDE/engine.json"
go run ./bench -workload plain,spread,preferred-affinity,anti-affinity,deployments -o json >"$ASIDE/cluster.json"
go run ./bench -workload claim-templates -nodes 500 -pods 1000 -rounds 3 -o json >"$ASIDE/claims.json"
go run ./bench -workload plain -variants 5/s,100/s -pods 300 -rounds 2 -o json >"$ASIDE/latency.json"
go run ./bench -workload plain -variants pending -nodes 50000 -pods 2000 -o json >"$ASIDE/wide.json"
go run ./bench -start -o json >"$ASIDE/start.json"
go run ./bench/scale -o json >"$ASIDE/scale.json"
mkdir -p bench/results
mv "$ASIDE"/{engine,cluster,claims,latency,wide,start,scale}.json bench/results
