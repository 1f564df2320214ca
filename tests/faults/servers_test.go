// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"time"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
)

// touch has the servers to itself for something that may take a while.
func (r *run) touch(what string, do func() error) {
	r.servers.Lock()
	defer r.servers.Unlock()
	r.restarted = true
	if err := do(); err != nil {
		r.Errorf("%s: %v", what, err)
	}
}

func (r *run) restartAPIServer(crash bool) {
	r.touch("restart the API server", func() error {
		if crash {
			r.control.KillAPIServer()
		} else {
			r.control.StopAPIServer()
		}
		return r.control.StartAPIServer(r.ctx)
	})
}

func (r *run) restartEtcd(crash bool) {
	r.touch("restart etcd", func() error { return r.control.RestartEtcd(r.ctx, crash) })
}

func (r *run) saveEtcd() {
	r.touch("save etcd", func() error { return r.control.SaveEtcd(r.ctx) })
}

// restoreEtcd begins an epoch of the history: the daemon stays away until it is known with what the epoch begins.
func (r *run) restoreEtcd() {
	r.touch("restore etcd", func() error {
		r.proxy.refusing.Store(true)
		defer r.proxy.refusing.Store(false)
		r.proxy.cut(true)
		until := time.Now()
		if err := r.control.RestoreEtcd(r.ctx, r.bumps); err != nil {
			return err
		}
		pods, err := r.pods()
		if err != nil {
			return err
		}
		if !r.bumps {
			// A watch can resume at a version that has been given out a second time, and misses what was undone: no client
			// can tell, so clients are to be restarted.
			for _, k := range r.keepers {
				k.kill()
			}
		}
		bound := map[string]string{}
		for i := range pods {
			if node := pods[i].Spec.NodeName; node != "" {
				bound[string(pods[i].UID)] = node
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		epochs := r.history.epochs
		epochs[len(epochs)-1].until = until
		r.history.epochs = append(epochs, epoch{from: time.Now(), bound: bound})
		return nil
	})
}

// heal has the controllers see the servers again: by themselves they would take up to half a minute.
func (r *run) heal() error {
	if !r.restarted {
		return nil
	}
	if controllers := r.control.Process(programs.ControllerManager); controllers != nil {
		controllers.Stop()
	}
	_, err := r.control.StartControllers(r.ctx, controlplane.ClaimControllers...)
	return err
}
