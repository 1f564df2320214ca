// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// recordings is where the daemons record to: one recording for each that was started.
func (r *run) recordings() string { return filepath.Join(r.dir, "recordings") }

// kept tells where what remains of a run that failed is.
func (r *run) kept() string {
	return fmt.Sprintf("files are kept in %s, what the daemons were told and decided in %s (see berth replay); %s",
		r.dir, r.recordings(), r.keepers[0].daemon().Tail())
}

// checkRecordings repeats what the daemons recorded: faults change what a scheduler is told, not what it makes of it.
func (r *run) checkRecordings() {
	r.Helper()
	program := r.keepers[0].program.Path
	output, err := exec.CommandContext(r.ctx, program, "replay", "-o=json", r.recordings()).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.Errorf("berth replay %s: %v: %s", r.recordings(), err, exit.Stderr)
	} else if err != nil {
		r.Error(err)
	}
	started, ended, found, messages := 0, 0, 0, 0
	for _, k := range r.keepers {
		started, ended = started+k.starts, ended+k.starts-k.kills
	}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; found++ {
		var one struct {
			Recording string
			Messages  int
			Identical bool
		}
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			r.Errorf("berth replay: %v: %s", err, output)
			return
		}
		messages += one.Messages
		if !one.Identical {
			r.Errorf("recording %s is not repeated bit for bit", one.Recording)
		}
	}
	r.Logf("%d recordings of %d messages", found, messages)
	// One that is killed at once has written nothing yet, and one that starts on a full disk never will.
	if found > started || (!r.fills && (found < ended || messages == 0)) {
		r.Errorf("%d recordings of %d messages, of %d daemons", found, messages, started)
	}
}
