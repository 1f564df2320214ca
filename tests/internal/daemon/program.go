// SPDX-License-Identifier: Apache-2.0

// Package daemon starts the scheduler under test, Berth or its peer kube-scheduler, with one command
// line for both, and watches it: its log, its CPU time and how it ends.
//
// The package workload below it makes the nodes and pods for it and sees what becomes of them.
package daemon

import "berth.dev/tests/checkout"

// Program is a scheduler that can be started.
type Program struct {
	Name string
	Path string

	// Peer says that it is kube-scheduler: it knows neither the command `run` nor --seed, and exits
	// with 1 when told to end without leader election.
	Peer bool
}

// Peer is a kube-scheduler.
func Peer(path string) Program { return Program{Name: "kube-scheduler", Path: path, Peer: true} }

// Berth is the binary of that path, or the one that checkout.Berth finds for "".
func Berth(path string) (Program, error) {
	path, err := checkout.Berth(path)
	if err != nil {
		return Program{}, err
	}
	return Program{Name: "berth", Path: path}, nil
}
