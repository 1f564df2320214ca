// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// state is what outlives the process that started a control plane: D/state.json.
type state struct {
	// Ports by program. They stay the same over restarts, so that kubeconfigs stay valid.
	Ports map[string]int `json:"ports"`
	// Processes in the order in which they were started.
	Processes []processRecord `json:"processes"`
}

type processRecord struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// Started tells the process from a later one with the same id.
	Started string `json:"started"`
}

func stateFile(dir string) string { return filepath.Join(dir, "state.json") }

// readState returns the empty state for a folder that never held a control plane.
func readState(dir string) (state, error) {
	s := state{Ports: map[string]int{}}
	text, err := os.ReadFile(stateFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the state: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", stateFile(dir), err)
	}
	return s, nil
}

func (s state) write(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	scratch := stateFile(dir) + ".new"
	if err := os.WriteFile(scratch, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	if err := os.Rename(scratch, stateFile(dir)); err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	return nil
}

// Down stops what runs in the folder, also what another process started. The data stays, so that Start with the
// same folder goes on from there.
func Down(dir string) error {
	s, err := readState(dir)
	if err != nil {
		return err
	}
	for i := len(s.Processes) - 1; i >= 0; i-- {
		s.Processes[i].stop()
	}
	if s.Processes == nil {
		return nil
	}
	s.Processes = nil
	return s.write(dir)
}

func (r processRecord) runs() bool { return r.Started != "" && startTicks(r.PID) == r.Started }

func (r processRecord) stop() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !r.runs() {
			return
		}
		_ = syscall.Kill(r.PID, signal)
		for deadline := time.Now().Add(stopGrace); r.runs() && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
	}
}
