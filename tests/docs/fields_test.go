// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"berth.dev/tests/markdown"
)

// schema is a type of a field: a kind, what a list is of, and what a struct has. Those of args stand in src/config/v1_schema.cc;
// the configuration's own follow from src/config/tables.h and the members' types in src/config/types.h.
type schema struct {
	kind, goType, element, fields string
}

type schemaField struct{ name, schema string }

type schemas struct {
	types  map[string]schema
	fields map[string][]schemaField
	args   []schemaField // by plugin; schema is the name of the fields
}

func readSchemas(t *testing.T) schemas {
	t.Helper()
	source := cppSource(t, "src/config/v1_schema.cc")
	found := schemas{types: map[string]schema{}, fields: map[string][]schemaField{}}
	one := regexp.MustCompile(`constexpr Schema (k\w+) = \{(k\w+),\s*"([^"]*)"(?:,\s*(?:nullptr|&(k\w+)))?(?:,\s*(k\w+))?\};`)
	for _, m := range one.FindAllStringSubmatch(source, -1) {
		found.types[m[1]] = schema{kind: m[2], goType: m[3], element: m[4], fields: m[5]}
	}
	entry := regexp.MustCompile(`\{"(\w+)",\s*&(k\w+(?:\.\w+)?)`)
	fieldsIn := func(text string) (fields []schemaField) {
		for _, e := range entry.FindAllStringSubmatch(text, -1) {
			// The page's head says of these that all args may have them.
			if e[1] != "apiVersion" && e[1] != "kind" {
				fields = append(fields, schemaField{e[1], e[2]})
			}
		}
		return fields
	}
	for _, m := range regexp.MustCompile(`(?s)constexpr SchemaField (k\w+)\[\] = \{(.*?)\};`).FindAllStringSubmatch(source, -1) {
		found.fields[m[1]] = fieldsIn(m[2])
	}
	// A struct, and lists of it.
	for _, m := range regexp.MustCompile(`(?s)constexpr Struct (k\w+)\{\s*"\[\]([^"]*)",(.*?)\};`).FindAllStringSubmatch(source, -1) {
		found.fields[m[1]] = fieldsIn(m[3])
		found.types[m[1]+".one"] = schema{kind: "kStruct", goType: m[2], fields: m[1]}
		found.types[m[1]+".list"] = schema{kind: "kList", goType: "[]" + m[2], element: m[1] + ".one"}
	}
	// Args begin with fields that others have, too.
	for _, m := range regexp.MustCompile(`(?s)constexpr Args (k\w+)\{\s*"v1\.(\w+)Args",\s*(k\w+),(.*?)\};`).FindAllStringSubmatch(source, -1) {
		found.fields[m[1]] = append(slices.Clone(found.fields[m[3]]), fieldsIn(m[4])...)
		found.args = append(found.args, schemaField{m[2], m[1]})
	}
	slices.SortFunc(found.args, func(a, b schemaField) int { return strings.Compare(a.name, b.name) })
	declared := len(regexp.MustCompile(`constexpr (Schema|Struct|Args) k`).FindAllString(source, -1))
	structs := strings.Count(source, "constexpr Struct k")
	if read := len(found.types) - structs + len(found.args); declared != read || len(found.args) < 10 {
		t.Fatalf("of %d schemas %d were read, and args of %d plugins", declared, read, len(found.args))
	}
	readConfigTables(t, found)
	return found
}

// readConfigTables adds the configuration's structs under their C++ names.
func readConfigTables(t *testing.T, found schemas) {
	t.Helper()
	for name, kind := range map[string]string{"bool": "kBool", "int32_t": "kInt32", "int64_t": "kInt64", "float": "kFloat32",
		"std::string": "kString", "Duration": "kDuration", "ConfigValue": "kAny", "data": "kBytes"} {
		found.types[name] = schema{kind: kind}
	}
	members := map[string]map[string]string{} // by struct: the type of a member
	for _, m := range regexp.MustCompile(`(?s)\nstruct (\w+) \{(.*?)\n\};`).FindAllStringSubmatch(cppSource(t, "src/config/types.h"), -1) {
		members[m[1]] = map[string]string{}
		for _, member := range regexp.MustCompile(`(?m)^  ([\w:<>]+) (\w+)(?: = [^;]*|\{\})?;`).FindAllStringSubmatch(m[2], -1) {
			members[m[1]][member[2]] = member[1]
		}
	}
	tables := regexp.MustCompile(`(?s)struct TableOf<(\w+)> \{(.*?)\n\};`).FindAllStringSubmatch(cppSource(t, "src/config/tables.h"), -1)
	held := regexp.MustCompile(`Held(Data)?<&\w+::(\w+)>\s*\{\s*"(\w+)"`)
	for _, table := range tables {
		name := table[1]
		goType := regexp.MustCompile(`kGoType = "([^"]*)"`).FindStringSubmatch(table[2])
		found.types[name] = schema{kind: "kStruct", goType: goType[1], fields: name}
		for _, m := range held.FindAllStringSubmatch(table[2], -1) {
			of := strings.TrimSuffix(strings.TrimPrefix(members[name][m[2]], "std::optional<"), ">")
			if m[1] != "" {
				of = "data"
			}
			if element, ok := strings.CutPrefix(of, "std::vector<"); ok {
				element = strings.TrimSuffix(element, ">")
				of = "list of " + element
				found.types[of] = schema{kind: "kList", element: element}
			}
			found.fields[name] = append(found.fields[name], schemaField{m[3], of})
		}
	}
	// They come from a macro, and are alike.
	found.fields["Plugins"] = []schemaField{{"preEnqueue", "PluginSet"}}
	for name, fields := range found.fields {
		for _, field := range fields {
			if _, ok := found.types[field.schema]; !ok {
				t.Fatalf("%s.%s is of a type %q that was not read", name, field.name, field.schema)
			}
		}
	}
}

// fieldsPage writes docs/fields.md. The columns but the last come from the code; what a field means is
// what the page has said of it.
type fieldsPage struct {
	schemas
	text     strings.Builder
	meanings map[string]string // by section and path
	section  string
	problems []string
}

// Their fields are those of every Kubernetes API.
var opaque = []string{"v1.NodeAffinity", "v1.LabelSelector"}

func (p *fieldsPage) begin(section string) {
	p.section = section
	fmt.Fprintf(&p.text, "\n## %s\n\n| Field | Type | Default | Meaning |\n| --- | --- | --- | --- |\n", section)
}

func (p *fieldsPage) typeName(s schema) string {
	name := map[string]string{"kBool": "boolean", "kInt32": "integer", "kInt64": "integer", "kFloat32": "number", "kFloat64": "number", "kString": "string",
		"kBytes": "base64", "kDuration": "duration", "kStringMap": "map", "kStruct": "object", "kAny": "args"}[s.kind]
	if s.kind == "kList" {
		name = "list of " + p.typeName(p.types[s.element]) + "s"
	}
	if s.goType == "v1.ResourceList" || strings.HasPrefix(s.goType, "map[v1.ResourceName]") {
		name = "map"
	}
	if name == "" {
		p.problems = append(p.problems, "the kind "+s.kind+" has no name")
	}
	return name
}

// add writes the row of a field, and of those below it.
func (p *fieldsPage) add(path string, s schema, value any) {
	standsAt := ""
	switch element := p.types[s.element]; {
	case value == nil:
	case s.kind == "kStruct" && !slices.Contains(opaque, s.goType), strings.HasPrefix(path, "profiles"):
	case s.kind == "kList" && element.kind == "kStruct" && path == "profiles":
	default:
		text, _ := json.Marshal(value)
		standsAt = "`" + string(text) + "`"
	}
	meaning := p.meanings[p.section+" "+path]
	if meaning == "" || meaning == "?" {
		meaning = "?"
		p.problems = append(p.problems, fmt.Sprintf("%s, %s: say in the last column what it means", p.section, path))
	}
	fmt.Fprintf(&p.text, "| `%s` | %s | %s | %s |\n", path, p.typeName(s), standsAt, meaning)
	if s.kind == "kList" {
		s, path = p.types[s.element], path+"[]"
		list, _ := value.([]any)
		value = nil
		// Each profile has the same defaults.
		if len(list) > 0 && path == "profiles[]" {
			value = list[0]
		}
	}
	if s.kind == "kStruct" && !slices.Contains(opaque, s.goType) {
		p.addAll(path+".", p.fields[s.fields], value)
	}
}

func (p *fieldsPage) addAll(prefix string, fields []schemaField, value any) {
	values, _ := value.(map[string]any)
	for i, field := range fields {
		// The extension points are alike.
		if i > 0 && strings.HasSuffix(prefix, "plugins.") {
			continue
		}
		name := field.name
		if strings.HasSuffix(prefix, "plugins.") {
			name = "<point>"
		}
		p.add(prefix+name, p.types[field.schema], values[field.name])
	}
}

// meaningsOfFields is the last column of docs/fields.md, by section and path.
func meaningsOfFields(t *testing.T) map[string]string {
	t.Helper()
	meanings := map[string]string{}
	row := regexp.MustCompile("^\\| `([^`]+)` \\| [^|]* \\| [^|]* \\| (.*) \\|$")
	section := ""
	for line := range strings.Lines(read(t, pageOfFields)) {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			section = heading
		}
		if m := row.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			meanings[section+" "+m[1]] = m[2]
		}
	}
	return meanings
}

const pageOfFields = "docs/fields.md"

func TestMadePageOfFields(t *testing.T) {
	p := fieldsPage{schemas: readSchemas(t), meanings: meaningsOfFields(t)}
	var defaults map[string]any
	if err := json.Unmarshal([]byte(berth(t, "config", "-o", "json")), &defaults); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{}
	for _, profile := range defaults["profiles"].([]any) {
		for _, config := range profile.(map[string]any)["pluginConfig"].([]any) {
			config := config.(map[string]any)
			args[config["name"].(string)] = config["args"]
		}
	}
	p.text.WriteString(`# Fields of the configuration

<!-- tests/docs/fields_test.go makes all columns but the last, from src/config and ` + "`berth config`" + `. -->

All that a KubeSchedulerConfiguration of ` + "`kubescheduler.config.k8s.io/v1`" + ` may say, with its defaults. Beside these it has
` + "`apiVersion` and `kind`" + `, and so may args. ` + "[`config/default.yaml`](../config/default.yaml)" + ` is such a file, and
[configuration.md](configuration.md) says how files, flags and feature gates go together. Args of plugins that are not here are handed
to them as they are: ` + "`searchSteps` of GangScheduling ([gangs.md](gangs.md))" + `, and those of loaded plugins.
`)
	p.begin("The file")
	p.addAll("", p.fields["SchedulerConfiguration"], defaults)
	for _, plugin := range p.args {
		p.begin("Args of " + plugin.name)
		p.addAll("", p.fields[plugin.schema], args[plugin.name])
	}
	holdPage(t, pageOfFields, markdown.Reflow(p.text.String()))
	for _, problem := range p.problems {
		t.Errorf("%s: %s", pageOfFields, problem)
	}
}
