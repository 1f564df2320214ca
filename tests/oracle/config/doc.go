// SPDX-License-Identifier: Apache-2.0

// Package config holds what Berth makes of configurations and flags against what the kube-scheduler
// binary makes of them: the effective configuration that both write, or the error that both report.
// No cluster is needed; the kubeconfig points nowhere.
package config
