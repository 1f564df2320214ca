// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"slices"
	"testing"

	"berth.dev/tests/oracle/generate"
	"berth.dev/tests/oracle/upstream"
)

// The walk through the extension points is the oracle's own: here it is held against upstream's.
func TestVerdictsAgreeWithUpstreamsOwnWalk(t *testing.T) {
	pods := 0
	for seed := range uint64(100) {
		kase := generate.New(seed, generate.Options{Nodes: 40, Volumes: true})
		state := open(t, kase.ClusterJSON(), kase.ConfigYAML())
		for _, judged := range state.JudgeAll() {
			if judged.Result == upstream.Gated || judged.Result == upstream.Ignored {
				continue
			}
			pods++
			v := state.Decide(judged.Pod)
			if v.Result != judged.Result || !slices.Equal(v.Best, judged.Best) && len(v.Best) != 1 {
				t.Errorf("seed %d: judged %s, decided %s", seed, judged.Line(), v.Line())
			}
			result, err := state.SchedulePod(v.Pod)
			switch {
			case err != nil && (v.Result == upstream.Scheduled || v.Message != err.Error()):
				t.Errorf("seed %d, %s: %s %q, upstream says %q", seed, v.Pod, v.Result, v.Message, err)
			case err == nil && !slices.Contains(v.Best, result.SuggestedHost):
				t.Errorf("seed %d, %s: upstream takes %s; the best are %v", seed, v.Pod, result.SuggestedHost, v.Best)
			}
		}
	}
	if pods < 1000 {
		t.Errorf("only %d pods were compared", pods)
	}
}

func open(t *testing.T, cluster, config []byte) *upstream.State {
	t.Helper()
	objects, err := upstream.ReadCluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := upstream.ReadConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	state, err := upstream.NewState(objects, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(state.Close)
	return state
}
