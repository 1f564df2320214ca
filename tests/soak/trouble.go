// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"time"

	"berth.dev/tests/faults"
)

// troubles are what befalls a share of the daemon's requests for some seconds, one after the other.
var troubles = []faults.Rule{
	{Fault: faults.Fault{Kind: faults.Delay, Delay: 300 * time.Millisecond}, Share: 0.3},
	{Fault: faults.Fault{Kind: faults.Answer, Code: http.StatusTooManyRequests, RetryAfter: 1}, Share: 0.2},
	{Fault: faults.Fault{Kind: faults.Answer, Code: http.StatusInternalServerError}, Share: 0.1},
	{Fault: faults.Fault{Kind: faults.Answer, Code: http.StatusServiceUnavailable, Late: true}, Share: 0.1},
	{Fault: faults.Fault{Kind: faults.Reset}, Share: 0.1},
	{Fault: faults.Fault{Kind: faults.Reset, Late: true}, Share: 0.1},
	{Fault: faults.Fault{Kind: faults.Cut}, Share: 0.02},
	{Fault: faults.Fault{Kind: faults.Goaway}, Share: 0.05},
	{Scope: faults.Scope{Verb: "watch"}, Fault: faults.Fault{Kind: faults.Truncate}, Share: 1},
	{Scope: faults.Scope{Verb: "watch"}, Fault: faults.Fault{Kind: faults.End}, Share: 1},
	{Scope: faults.Scope{Verb: "watch", Resource: "pods"}, Fault: faults.Fault{Kind: faults.Expire}, Share: 1},
	{Scope: faults.Scope{Verb: "watch"}, Fault: faults.Fault{Kind: faults.Split}, Share: 1},
}

const (
	// The daemon has trouble for at most longestTrouble, and then none for at most longestCalm.
	longestTrouble = 5 * time.Second
	longestCalm    = 30 * time.Second
)
