// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// The same table is read by tests/unit/documents/yaml_cases_test.cc, so both read YAML alike.
const yamlCases = "../unit/documents/testdata/yaml_cases.json"

var updateYAML = flag.Bool("update-yaml", false, "write what the peer makes of the YAML cases into their table")

// yamlCase is a document and the JSON it becomes, or that it is refused.
type yamlCase struct {
	YAML  string          `json:"yaml"`
	JSON  json.RawMessage `json:"json,omitempty"`
	Error bool            `json:"error,omitempty"`
	// Differs says why Berth reads the document otherwise, if it does.
	Differs string `json:"differs,omitempty"`
}

func readYAML(text string) yamlCase {
	converted, err := yaml.YAMLToJSONStrict([]byte(text))
	return yamlCase{YAML: text, JSON: converted, Error: err != nil}
}

func TestYAMLCasesAreWhatKubernetesReads(t *testing.T) {
	table, err := os.ReadFile(yamlCases)
	if err != nil {
		t.Fatal(err)
	}
	var cases []yamlCase
	if err := json.Unmarshal(table, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		got := readYAML(c.YAML)
		if *updateYAML {
			got.Differs = c.Differs
			cases[i] = got
		} else if got.Error != c.Error || !bytes.Equal(got.JSON, c.JSON) {
			t.Errorf("%q: got %s (error: %v), the table says %s (error: %v)", c.YAML, got.JSON, got.Error, c.JSON, c.Error)
		}
	}
	if *updateYAML {
		writeYAMLCases(t, cases)
	}
}

// writeYAMLCases writes one case a line.
func writeYAMLCases(t *testing.T, cases []yamlCase) {
	var out bytes.Buffer
	for i, c := range cases {
		out.WriteString(map[bool]string{true: "[\n  ", false: ",\n  "}[i == 0])
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(c); err != nil {
			t.Fatal(err)
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteString("\n]\n")
	if err := os.WriteFile(yamlCases, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
