// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs a real Kubernetes control plane on loopback for tests: etcd,
// kube-apiserver and, where asked for, kube-controller-manager, kube-scheduler and kwok, all built
// by package programs.
//
// Start brings one up and Stop takes it down. The caller owns the processes: they die
// with it, even when it is killed. The command under cmd/controlplane starts one that outlives it.
package controlplane
