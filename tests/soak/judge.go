// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// minSamples is how many a run must have, so that each quarter has some.
const minSamples = 8

// findings are what was found when all had come to rest.
type findings struct {
	settled  error // why it has not come to rest
	stopped  error // what was wrong with the daemon's end
	log      string
	nodes    []corev1.Node
	pods     []corev1.Pod
	bindings []controlplane.Binding

	volumes      []corev1.PersistentVolume
	claims       []corev1.PersistentVolumeClaim
	deviceClaims []resourcev1.ResourceClaim
}

// verdict is one thing that should hold.
type verdict struct {
	What   string `json:"what"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail,omitempty"`
}

// holds is the verdict on something for which `wrong` says what is wrong with it.
func holds(what, wrong string) verdict {
	return verdict{What: what, Holds: wrong == "", Detail: wrong}
}

func (f findings) judge() []verdict {
	var differs string
	for line := range strings.Lines(f.log) {
		if strings.Contains(line, mismatch) {
			differs = strings.TrimSpace(line)
		}
	}
	return []verdict{
		holds("all pods that should run are bound", text(f.settled)),
		holds("no pod was bound twice", controlplane.BoundTwice(f.bindings)),
		holds("each pod is where it was bound", controlplane.Misplaced(f.bindings, f.pods)),
		holds("no node has more than it can hold", workload.Overfull(workload.Pointers(f.nodes), workload.Pointers(f.pods))),
		holds("volumes are where their pods are", strings.Join(f.wrongVolumes(), "; ")),
		holds("devices are where their pods are, each once", strings.Join(f.wrongDevices(), "; ")),
		holds("the cache is what the informers hold", differs),
		holds("the cache is what the API server has", compareDump(readDump(f.log), f.nodes, f.pods)),
		holds("the daemon ended when told to", text(f.stopped)),
	}
}

func (f findings) wrongVolumes() []string {
	wrong, _ := workload.CheckVolumes(workload.Pointers(f.nodes), workload.Pointers(f.pods), workload.Pointers(f.claims), workload.Pointers(f.volumes))
	return wrong
}

func (f findings) wrongDevices() []string {
	wrong, _ := workload.CheckDevices(workload.Pointers(f.pods), workload.Pointers(f.deviceClaims))
	return wrong
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// flatness compares the medians of a figure over the second and the last quarter of the samples.
type flatness struct {
	What   string  `json:"what"`
	Second float64 `json:"secondQuarter"`
	Last   float64 `json:"lastQuarter"`
	Limit  float64 `json:"limit"`
}

// flat says how much the figure may grow: by so many percent, and by so much besides.
func flat(what string, samples []sample, percent, slack float64, figure func(sample) float64) flatness {
	n := len(samples)
	second := workload.Median(samples[n/4:n/2], figure)
	return flatness{
		What: what, Second: second, Last: workload.Median(samples[n-n/4:], figure),
		Limit: second*(1+percent/100) + slack,
	}
}

func (f flatness) verdict() verdict {
	return verdict{
		What:  "no growth of " + f.What,
		Holds: f.Last <= f.Limit,
		Detail: fmt.Sprintf("%s in the second quarter, %s in the last, at most %s",
			plain(f.Second), plain(f.Last), plain(f.Limit)),
	}
}

// plain writes bytes in mebibytes, and small numbers as they are.
func plain(value float64) string {
	if value >= 1<<16 {
		return mebibytes(int64(value))
	}
	return fmt.Sprintf("%.0f", value)
}

// judgeFlatness looks at all that could grow. What belongs to few connections and files may come and go.
func judgeFlatness(samples []sample, growth float64) []flatness {
	const memorySlack, descriptorSlack, threadSlack = 2 << 20, 4, 0
	judged := []flatness{
		flat("resident memory", samples, growth, memorySlack, func(s sample) float64 { return float64(s.Resident) }),
		flat("descriptors", samples, 0, descriptorSlack, func(s sample) float64 { return float64(s.Descriptors) }),
		flat("threads", samples, 0, threadSlack, func(s sample) float64 { return float64(s.Threads) }),
	}
	if slices.ContainsFunc(samples, func(s sample) bool { return s.Heap > 0 }) {
		judged = append(judged, flat("heap", samples, growth, memorySlack, func(s sample) float64 { return float64(s.Heap) }))
	}
	return judged
}
