// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// The fields of the API by which Berth tells those that are misspelt.
const knownFields = "../../src/documents/known_fields_table.cc"

// The kinds that Berth reads.
const kinds = "../../src/api/kinds.h"

// The kinds that only manifests are read of (src/simulator/pod_controllers.cc, admission.h).
var manifestKinds = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"},
	{Group: "", Version: "v1", Kind: "LimitRange"},
	{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"},
}

// The fields of custom kinds, by what follows "=" in their row: the modules of their projects bring a Kubernetes of
// their own.
var customKinds = map[string]reflect.Type{
	"scheduling.x-k8s.io/v1alpha1 PodGroup":              reflect.TypeFor[CoschedulingPodGroup](),
	"topology.node.k8s.io/v1alpha2 NodeResourceTopology": reflect.TypeFor[NodeResourceTopology](),
	"scheduling.x-k8s.io/v1alpha1 ElasticQuota":          reflect.TypeFor[ElasticQuota](),
}

// ElasticQuota has the fields of the definition in kubernetes-sigs/scheduler-plugins v0.34.1-devel.
type ElasticQuota struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta  `json:"metadata"`
	Spec            ElasticQuotaSpec   `json:"spec"`
	Status          ElasticQuotaStatus `json:"status"`
}

type ElasticQuotaSpec struct {
	Min corev1.ResourceList `json:"min"`
	Max corev1.ResourceList `json:"max"`
}

type ElasticQuotaStatus struct {
	Used corev1.ResourceList `json:"used"`
}

// NodeResourceTopology has the fields of the definition in k8stopologyawareschedwg/noderesourcetopology-api v0.1.2.
type NodeResourceTopology struct {
	metav1.TypeMeta  `json:",inline"`
	Metadata         metav1.ObjectMeta       `json:"metadata"`
	TopologyPolicies []string                `json:"topologyPolicies"`
	Zones            []NodeTopologyZone      `json:"zones"`
	Attributes       []NodeTopologyAttribute `json:"attributes"`
}

type NodeTopologyZone struct {
	Name       string                  `json:"name"`
	Type       string                  `json:"type"`
	Parent     string                  `json:"parent"`
	Costs      []NodeTopologyCost      `json:"costs"`
	Attributes []NodeTopologyAttribute `json:"attributes"`
	Resources  []NodeTopologyResource  `json:"resources"`
}

type NodeTopologyResource struct {
	Name        string            `json:"name"`
	Capacity    resource.Quantity `json:"capacity"`
	Allocatable resource.Quantity `json:"allocatable"`
	Available   resource.Quantity `json:"available"`
}

type NodeTopologyCost struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

type NodeTopologyAttribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CoschedulingPodGroup has the fields of the definition in kubernetes-sigs/scheduler-plugins v0.34.1-devel.
type CoschedulingPodGroup struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta          `json:"metadata"`
	Spec            CoschedulingPodGroupSpec   `json:"spec"`
	Status          CoschedulingPodGroupStatus `json:"status"`
}

type CoschedulingPodGroupSpec struct {
	MinMember              int32               `json:"minMember"`
	MinResources           corev1.ResourceList `json:"minResources"`
	ScheduleTimeoutSeconds *int32              `json:"scheduleTimeoutSeconds"`
}

type CoschedulingPodGroupStatus struct {
	Phase             string      `json:"phase"`
	OccupiedBy        string      `json:"occupiedBy"`
	Running           int32       `json:"running"`
	Succeeded         int32       `json:"succeeded"`
	Failed            int32       `json:"failed"`
	ScheduleStartTime metav1.Time `json:"scheduleStartTime"`
}

var updateFields = flag.Bool("update-fields", false, "write the fields of the API into the table of src/documents")

const knownFieldsHead = `// SPDX-License-Identifier: Apache-2.0
// The fields of the API's kinds, written by tests/oracle from k8s.io/api:
//   go -C tests test -run TestKnownFields ./oracle/ -args -update-fields
#include "src/documents/known_fields.h"

namespace berth::documents {

const std::string_view kKnownFields = R"(
`

const knownFieldsTail = `)";

}  // namespace berth::documents
`

// fieldTable gathers the types that kinds are made of.
type fieldTable struct {
	names map[reflect.Type]string
	taken map[string]bool
	rows  []string
}

func isLeaf(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Kind() != reflect.Struct || t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// name is what the table calls the type, which gets a row when it is first asked for.
func (f *fieldTable) name(t reflect.Type) string {
	if name, ok := f.names[t]; ok {
		return name
	}
	name := t.Name()
	if f.taken[name] {
		parts := strings.Split(t.PkgPath(), "/")
		name = parts[len(parts)-2] + "." + name
	}
	f.names[t], f.taken[name] = name, true
	row := len(f.rows)
	f.rows = append(f.rows, "")
	f.rows[row] = wrapped(append([]string{name}, f.fields(t)...))
	return name
}

// fields are "name", "name:Type" of an object or a list of them, and "name:*Type" of a map.
func (f *fieldTable) fields(t reflect.Type) (fields []string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		of := field.Type
		mark := ":"
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			if of.Kind() == reflect.Map {
				mark = ":*"
			}
			of = of.Elem()
		}
		switch {
		case name == "-":
		case name == "" && (field.Anonymous || strings.Contains(options, "inline")):
			fields = append(fields, f.fields(of)...)
		case isLeaf(of):
			fields = append(fields, name)
		default:
			fields = append(fields, name+mark+f.name(of))
		}
	}
	return fields
}

// wrapped is a row; what goes on in a further line begins with a space.
func wrapped(words []string) string {
	var row strings.Builder
	width := 0
	for i, word := range words {
		if i > 0 && width+1+len(word) > 96 {
			row.WriteString("\n")
			width = 0
		}
		if i > 0 {
			row.WriteString(" ")
			width++
		}
		row.WriteString(word)
		width += len(word)
	}
	return row.String()
}

func knownFieldsTable(t *testing.T) string {
	text, err := os.ReadFile(kinds)
	if err != nil {
		t.Fatal(err)
	}
	table := fieldTable{names: map[reflect.Type]string{}, taken: map[string]bool{}}
	var roots []string
	for _, m := range regexp.MustCompile(`BERTH_API_KIND\(\w+, "([^"]+)", "(\w+)"\)`).FindAllStringSubmatch(string(text), -1) {
		kind := m[1] + " " + m[2]
		fields, custom := customKinds[kind]
		if !custom {
			object, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(m[1], m[2]))
			if err != nil {
				t.Fatal(err)
			}
			fields = reflect.TypeOf(object).Elem()
		}
		roots = append(roots, fmt.Sprintf("=%s %s", kind, table.name(fields)))
	}
	if len(roots) < 20 {
		t.Fatalf("%s names only %d kinds", kinds, len(roots))
	}
	for _, kind := range manifestKinds {
		object, err := scheme.Scheme.New(kind)
		if err != nil {
			t.Fatal(err)
		}
		version, name := kind.ToAPIVersionAndKind()
		roots = append(roots, fmt.Sprintf("=%s %s %s", version, name, table.name(reflect.TypeOf(object).Elem())))
	}
	slices.Sort(table.rows)
	return strings.Join(slices.Concat(roots, table.rows), "\n") + "\n"
}

func TestKnownFieldsAreThoseOfTheAPI(t *testing.T) {
	want := knownFieldsHead + knownFieldsTable(t) + knownFieldsTail
	if *updateFields {
		if err := os.WriteFile(knownFields, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(knownFields)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is not what k8s.io/api comes to: go -C tests test -run TestKnownFields ./oracle/ -args -update-fields", knownFields)
	}
}
