// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"strings"
	"testing"
)

// TestASeedIsASchedule checks that a seed gives the same schedule again, and that seeds leave no trouble out.
func TestASeedIsASchedule(t *testing.T) {
	var all strings.Builder
	for seed := range uint64(400) {
		text := draw(seed).String()
		if again := draw(seed).String(); again != text {
			t.Errorf("seed %d gives\n%s\nand\n%s", seed, text, again)
		}
		all.WriteString(text)
	}
	drawn := all.String()
	for _, trouble := range []string{
		"HTTP/1.1", "JSON", "client certificates", "leader election", "2 replicas", "extender hangs", "half open", "refused", "slow",
		"cut", "the API server is restarted (crash: true)", "etcd is restarted (crash: true)", "etcd is saved, and restored",
		"have expired", "rotated", "certificate has expired", "is killed", "is paused",
		"the disk is full", "the wall clock jumps by -", "and back: true", "names are not resolved",
		"answer 409", "answer 410", "answer 429 after 1s", "answer 500", "answer 503", "answer 504, when done", "for leases",
		string(Delay), string(Reset), string(Goaway), string(Truncate), string(Split), string(Stall) + " for", string(End) + " for",
		string(Expire), string(NoBookmarks), string(Brief), "pods/binding in a", "pods/binding in b",
	} {
		if !strings.Contains(drawn, trouble) {
			t.Errorf("no seed draws %q", trouble)
		}
	}
}
