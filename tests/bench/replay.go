// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// replayed is what `berth replay -o json` says of one recording.
type replayed struct {
	Recording   string `json:"recording"`
	Messages    int    `json:"messages"`
	Decisions   int    `json:"decisions"`
	Differences int    `json:"differences"`
	Identical   bool   `json:"identical"`
}

func (r replayed) String() string {
	verdict := "repeated bit for bit"
	if !r.Identical {
		verdict = fmt.Sprintf("DIFFERS in %d decisions", r.Differences)
	}
	return fmt.Sprintf("recording %s: %d messages, %d decisions, %s", r.Recording, r.Messages, r.Decisions, verdict)
}

// replay repeats every recording of the folder.
func replay(ctx context.Context, berth, folder string) ([]replayed, error) {
	out, err := exec.CommandContext(ctx, berth, "replay", "-o=json", folder).Output()
	// It ends with 1 where a recording differs: that is a result.
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("berth replay %s: %w", folder, err)
	}
	return readReplays(out)
}

// readReplays reads one document for each recording.
func readReplays(out []byte) (all []replayed, err error) {
	documents := json.NewDecoder(bytes.NewReader(out))
	for {
		var one replayed
		if err := documents.Decode(&one); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("what berth replay says: %w", err)
		}
		all = append(all, one)
	}
}
