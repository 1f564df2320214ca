// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The JSON Schema of a KubeSchedulerConfiguration, for editors and for the chart's `config`. Like docs/fields.md it comes
// from src/config; what a field means is what that page says.

const (
	configurationSchema = "deploy/schema/kubeschedulerconfiguration.json"
	chartSchema         = "deploy/helm/values.schema.json"
)

// schemaMaker writes schemas of the fields of one section of docs/fields.md.
type schemaMaker struct {
	schemas
	meanings map[string]string // by section and path
	section  string
	points   []string
}

var markup = regexp.MustCompile("\\[([^\\]]*)\\]\\([^)]*\\)|`")

func (m schemaMaker) of(path string, s schema) map[string]any {
	out := map[string]any{}
	if meaning := m.meanings[m.section+" "+path]; meaning != "" {
		out["description"] = markup.ReplaceAllString(meaning, "$1")
	}
	switch s.kind {
	case "kBool":
		out["type"] = "boolean"
	case "kInt32":
		out["type"], out["minimum"], out["maximum"] = "integer", math.MinInt32, math.MaxInt32
	case "kInt64":
		out["type"] = "integer"
	case "kFloat32", "kFloat64":
		out["type"] = "number"
	case "kString", "kBytes":
		out["type"] = "string"
	case "kDuration":
		out["type"], out["pattern"] = "string", `^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
	case "kStringMap":
		out["type"], out["additionalProperties"] = "object", map[string]any{"type": "string"}
	case "kList":
		out["type"], out["items"] = "array", m.of(path+"[]", m.types[s.element])
	case "kStruct":
		maps.Copy(out, m.object(path+".", m.fields[s.fields]))
	default: // kAny
		out["type"] = "object"
	}
	return out
}

func (m schemaMaker) object(prefix string, fields []schemaField) map[string]any {
	if strings.HasSuffix(prefix, "plugins.") {
		point := m.of(prefix+"<point>", m.types[fields[0].schema])
		delete(point, "description")
		names := "^(" + strings.Join(m.points, "|") + ")$"
		return map[string]any{"type": "object", "additionalProperties": false, "patternProperties": map[string]any{names: point}}
	}
	properties := map[string]any{}
	for _, field := range fields {
		properties[field.name] = m.of(prefix+field.name, m.types[field.schema])
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

// makeConfigurationSchema is that of a whole file, and of the args of each plugin that has a kind of them.
func makeConfigurationSchema(t *testing.T) map[string]any {
	m := schemaMaker{schemas: readSchemas(t), meanings: meaningsOfFields(t), section: "The file"}
	for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(m.meanings["The file profiles[].plugins.<point>"], -1) {
		m.points = append(m.points, name[1])
	}
	if len(m.points) < 16 {
		t.Fatalf("docs/fields.md names the extension points %v", m.points)
	}
	file := m.object("", m.fields["SchedulerConfiguration"])
	properties := file["properties"].(map[string]any)
	properties["apiVersion"] = map[string]any{"const": "kubescheduler.config.k8s.io/v1"}
	properties["kind"] = map[string]any{"const": "KubeSchedulerConfiguration"}
	var args []any
	for _, plugin := range m.args {
		m.section = "Args of " + plugin.name
		args = append(args, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"name": map[string]any{"const": plugin.name}}},
			"then": map[string]any{"properties": map[string]any{"args": m.object("", m.fields[plugin.schema])}},
		})
	}
	profile := properties["profiles"].(map[string]any)["items"].(map[string]any)["properties"].(map[string]any)
	config := profile["pluginConfig"].(map[string]any)["items"].(map[string]any)
	config["allOf"], config["required"] = args, []any{"name"}
	return file
}

// undescribed takes the descriptions out of a schema.
func undescribed(value any) {
	switch value := value.(type) {
	case map[string]any:
		if _, ok := value["description"].(string); ok {
			delete(value, "description")
		}
		for _, member := range value {
			undescribed(member)
		}
	case []any:
		for _, element := range value {
			undescribed(element)
		}
	}
}

func printed(t *testing.T, value any) string {
	t.Helper()
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestMadeSchemasOfTheConfiguration(t *testing.T) {
	file := makeConfigurationSchema(t)
	whole := maps.Clone(file)
	whole["$schema"] = "http://json-schema.org/draft-07/schema#"
	whole["title"] = "KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1, as Berth reads it"
	whole["required"] = []any{"apiVersion", "kind"}
	holdPage(t, configurationSchema, printed(t, whole))

	var chart map[string]any
	if err := json.Unmarshal([]byte(read(t, chartSchema)), &chart); err != nil {
		t.Fatal(err)
	}
	definitions := chart["definitions"].(map[string]any)
	// Helm shows no descriptions.
	undescribed(file)
	// As it is read again: numbers become float64, and so on.
	var again any
	if err := json.Unmarshal([]byte(printed(t, file)), &again); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("BERTH_UPDATE_DOCS") != "" && !reflect.DeepEqual(definitions["configuration"], again) {
		definitions["configuration"] = again
		if err := os.WriteFile(filepath.Join(root, chartSchema), []byte(printed(t, chart)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(definitions["configuration"], again) {
		t.Errorf("%s: definitions.configuration is not what the code makes; write it again as the head of reference_test.go says", chartSchema)
	}
}

// What a schema of an object allows and what it does not: the parts of JSON Schema that the schemas above consist of.
func allows(s map[string]any, value any) bool {
	if want, ok := s["const"]; ok && value != want {
		return false
	}
	switch s["type"] {
	case "object":
		object, ok := value.(map[string]any)
		if !ok {
			return false
		}
		properties, _ := s["properties"].(map[string]any)
		patterns, _ := s["patternProperties"].(map[string]any)
		for name, member := range object {
			property, ok := properties[name].(map[string]any)
			for pattern, of := range patterns {
				if regexp.MustCompile(pattern).MatchString(name) {
					property, ok = of.(map[string]any), true
				}
			}
			if ok && !allows(property, member) || !ok && s["additionalProperties"] == false {
				return false
			}
		}
	case "array":
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(e any) bool { return !allows(s["items"].(map[string]any), e) })
	case "string":
		_, ok := value.(string)
		return ok
	case "boolean":
		_, ok := value.(bool)
		return ok
	case "integer", "number":
		_, ok := value.(float64)
		return ok
	}
	return true
}

// All that `berth config` prints of the shipped configurations, defaults and all, is allowed.
func TestTheSchemaAllowsWhatBerthPrints(t *testing.T) {
	var s map[string]any
	if err := json.Unmarshal([]byte(read(t, configurationSchema)), &s); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"config/default.yaml", "config/two-profiles.yaml", "deploy/base/config.yaml"} {
		var printed map[string]any
		if err := json.Unmarshal([]byte(berth(t, "config", "--config", file, "-o", "json")), &printed); err != nil {
			t.Fatal(err)
		}
		if !allows(s, printed) {
			t.Errorf("%s refuses %s as it is printed", configurationSchema, file)
		}
	}
	if allows(s, map[string]any{"profiles": []any{map[string]any{"schedulerNam": "x"}}}) {
		t.Error("a misspelt field is allowed")
	}
}
