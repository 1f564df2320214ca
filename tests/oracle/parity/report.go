// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth.dev/tests/oracle/generate"
)

// Print writes the difference for people.
func (d *Difference) Print(out io.Writer) {
	const most = 12
	fmt.Fprintf(out, "  %s\n", d.Kind)
	if d.Pod != "" {
		fmt.Fprintf(out, "  pod %s\n", d.Pod)
	}
	for i, line := range d.Details {
		if i == most {
			fmt.Fprintf(out, "    and %d more\n", len(d.Details)-most)
			break
		}
		fmt.Fprintf(out, "    %s\n", shorten(line))
	}
}

// Save writes a case that differs into a folder: cluster.yaml, config.yaml, what differs, upstream's document,
// and the case as a scenario.
func Save(dir string, kase generate.Case, difference *Difference) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var said strings.Builder
	fmt.Fprintf(&said, "seed %d\n", kase.Seed)
	difference.Print(&said)
	contents := map[string][]byte{
		"cluster.yaml": kase.ClusterYAML(),
		"config.yaml":  kase.ConfigYAML(),
		"said.txt":     []byte(said.String()),
	}
	if difference.Upstream != nil {
		contents["upstream.json"] = append(difference.Upstream.Line(), '\n')
	}
	if difference.Expect != nil {
		scenario, err := scenarioOf(kase, difference)
		if err != nil {
			return err
		}
		contents["scenario.yaml"] = scenario
	}
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		if err := os.WriteFile(filepath.Join(dir, name), contents[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
