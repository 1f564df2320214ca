// SPDX-License-Identifier: Apache-2.0

// Package spawn starts processes that end with this one.
package spawn

import (
	"os/exec"
	"runtime"
	"sync"
)

// spawner starts processes from one thread that never ends: a child's parent-death signal fires
// when the thread that started it ends, not the process.
var spawner = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})

// Start is cmd.Start from that thread, so that Pdeathsig in cmd.SysProcAttr means this process.
func Start(cmd *exec.Cmd) error {
	started := make(chan error)
	spawner() <- func() { started <- cmd.Start() }
	return <-started
}
