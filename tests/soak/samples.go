// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/internal/machine"
)

// sample is what the daemon held and had done at one moment.
type sample struct {
	Seconds     float64 `json:"seconds"` // since the first change
	Resident    int64   `json:"residentMemoryBytes"`
	Heap        int64   `json:"heapBytes"` // in use; 0 if it does not tell
	Descriptors int     `json:"descriptors"`
	Threads     int     `json:"threads"`
	CPUSeconds  float64 `json:"cpuSeconds"` // since its start
	Bound       int     `json:"podsBound"`  // since its start
	Pods        int     `json:"pods"`       // in the cluster
	Pending     int     `json:"podsPending"`
	Overfull    string  `json:"nodeOverAllocatable,omitempty"`
}

// sampler takes samples of a daemon. Its methods may be called from any goroutine.
type sampler struct {
	daemon  *daemon.Daemon
	tracker *workload.Tracker
	client  *http.Client
	metrics string // where the daemon shows them
	nodes   []*corev1.Node

	mu      sync.Mutex
	samples []sample
}

// take adds a sample.
func (s *sampler) take(ctx context.Context, at time.Duration) error {
	var heap int64
	err := workload.Persist(ctx, patience, func() (err error) {
		heap, err = s.heap(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the daemon's metrics: %w", err)
	}
	cpu, err := s.daemon.CPUTime()
	if err != nil {
		return err
	}
	pid, pods := s.daemon.PID(), s.tracker.Pods()
	taken := sample{
		Seconds:     at.Seconds(),
		Resident:    machine.ResidentMemory(pid),
		Heap:        heap,
		Descriptors: machine.Descriptors(pid),
		Threads:     machine.Threads(pid),
		CPUSeconds:  cpu.Seconds(),
		Bound:       s.tracker.Bound(),
		Pods:        len(pods),
		Overfull:    workload.Overfull(s.nodes, pods),
	}
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			taken.Pending++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, taken)
	return nil
}

// heap is what the daemon says that its objects take.
func (s *sampler) heap(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.metrics, nil)
	if err != nil {
		return 0, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", s.metrics, response.Status)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return 0, err
	}
	for _, metric := range families["berth_heap_bytes"].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "state" && label.GetValue() == "used" {
				return int64(metric.GetGauge().GetValue()), nil
			}
		}
	}
	return 0, nil
}

func (s *sampler) all() []sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.samples
}

// last is the last sample in words.
func (s *sampler) last() string {
	all := s.all()
	if len(all) == 0 {
		return ""
	}
	one := all[len(all)-1]
	return fmt.Sprintf("%s, %d pods bound, %d pods, %d pending", mebibytes(one.Resident), one.Bound, one.Pods, one.Pending)
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
