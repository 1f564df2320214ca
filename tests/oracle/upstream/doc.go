// SPDX-License-Identifier: Apache-2.0

// Package upstream judges pods by kube-scheduler's own code: its loader of configurations, its cache,
// queue and plugins, put together by its own scheduler.New and fed from cluster files instead of an
// API server. What it says is what Berth must say.
//
// The logic that is not upstream's is the walk from one extension point to the next (judge.go):
// upstream's stops at the first node that will do, and scores only where there is a choice.
package upstream
