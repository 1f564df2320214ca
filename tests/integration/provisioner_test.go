// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	"berth.dev/tests/internal/daemon/workload"
)

// provisionerName is the one that storage classes of these tests name.
const provisionerName = "disk.csi.example"

// provision starts a provisioner for the test's claims, which ends with the test.
func (e *env) provision(fails func(claim, zone string) bool) *workload.Provisioner {
	e.Helper()
	p := &workload.Provisioner{
		Client: e.admin, Namespace: e.namespace, Name: provisionerName, Fails: fails,
		Problem: func(claim string, err error) { e.Errorf("provision for claim %s: %v", claim, err) },
	}
	ctx, cancel := context.WithCancel(e.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	e.Cleanup(func() { cancel(); <-done })
	return p
}
