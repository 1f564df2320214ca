// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// fieldTables are the names in JSON of the fields that Berth reads, by the struct that has them: what src/api/tables_*.h say.
type fieldTables map[string][]string

func readFieldTables(folder string) (fieldTables, error) {
	files, err := filepath.Glob(filepath.Join(folder, "tables_*.h"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no field tables in %s: %v", folder, err)
	}
	table := regexp.MustCompile(`\bkFieldsOf<([\w:]+)> =`)
	object := regexp.MustCompile(`^\s*ObjectTable(WithStatus)?<`)
	field := regexp.MustCompile(`Field<\d+,\s*&\w+::\w+>\(\s*"(\w+)"\)`)
	tables := fieldTables{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		begins := table.FindAllSubmatchIndex(text, -1)
		for i, begin := range begins {
			end := len(text)
			if i+1 < len(begins) {
				end = begins[i+1][0]
			}
			body := text[begin[1]:end]
			var names []string
			for _, match := range field.FindAllSubmatch(body, -1) {
				names = append(names, string(match[1]))
			}
			if all := strings.Count(string(body), "Field<"); all != len(names) {
				return nil, fmt.Errorf("%s: %d of %d fields of %s can be read", file, len(names), all, text[begin[2]:begin[3]])
			}
			if match := object.FindSubmatch(body); match != nil {
				names = append(names, "metadata", "spec")
				if len(match[1]) > 0 {
					names = append(names, "status")
				}
			}
			tables[string(text[begin[2]:begin[3]])] = names
		}
	}
	return tables, nil
}

// place has a value in an object changed, and makes what is missing on the way to it.
type place func(object reflect.Value, change func(value reflect.Value))

// fieldWalk visits each value that an object of that type can have in the fields of the tables.
type fieldWalk struct {
	tables  fieldTables
	unknown []string // fields of tables that Kubernetes does not have, and structs without a table
	reached map[string]bool
	visit   func(path string, t reflect.Type, at place)
}

// deepest bounds the walk through types that hold themselves.
const deepest = 14

func (w *fieldWalk) over(object runtime.Object) {
	w.walk("", reflect.TypeOf(object).Elem(), func(object reflect.Value, change func(reflect.Value)) { change(object) }, 0)
}

var leaves = []reflect.Type{
	reflect.TypeFor[resource.Quantity](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](),
	reflect.TypeFor[intstr.IntOrString](), reflect.TypeFor[runtime.RawExtension](),
}

// tableOf are the types whose table has another name than they have.
var tableOf = map[reflect.Type]string{
	reflect.TypeFor[corev1.ResourceClaim]():                                      "ContainerResourceClaim",
	reflect.TypeFor[corev1.PodAntiAffinity]():                                    "PodAffinity",
	reflect.TypeFor[corev1.RBDPersistentVolumeSource]():                          "RBDVolumeSource",
	reflect.TypeFor[corev1.ISCSIPersistentVolumeSource]():                        "ISCSIVolumeSource",
	reflect.TypeFor[corev1.CinderPersistentVolumeSource]():                       "CinderVolumeSource",
	reflect.TypeFor[schedulingv1beta1.PodGroupResourceClaimStatus]():             "PodResourceClaimStatus",
	reflect.TypeFor[schedulingv1alpha3.CompositePodGroupSchedulingConstraints](): "PodGroupSchedulingConstraints",
	reflect.TypeFor[schedulingv1beta1.CompositePodGroupSchedulingConstraints]():  "PodGroupSchedulingConstraints",
	reflect.TypeFor[schedulingv1beta1.CompositeDisruptionMode]():                 "DisruptionMode",
	reflect.TypeFor[schedulingv1alpha3.CompositeDisruptionMode]():                "DisruptionMode",
}

// elsewhere are tables of what no kind that is watched holds.
var elsewhere = []string{"ApiStatus", "EmptyPolicy", "Lease", "LeaseSpec", "ListMeta", "StatusDetails"}

// unreached are the tables that nothing visited is of.
func (w *fieldWalk) unreached() []string {
	var missing []string
	for name := range w.tables {
		if !w.reached[name] && !slices.Contains(elsewhere, name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

func (w *fieldWalk) walk(path string, t reflect.Type, at place, depth int) {
	if depth > deepest {
		return
	}
	w.visit(path, t, at)
	switch {
	case slices.Contains(leaves, t):
	case t.Kind() == reflect.Pointer:
		w.walk(path, t.Elem(), func(object reflect.Value, change func(reflect.Value)) {
			at(object, func(pointer reflect.Value) {
				if pointer.IsNil() {
					pointer.Set(reflect.New(t.Elem()))
				}
				change(pointer.Elem())
			})
		}, depth+1)
	case t.Kind() == reflect.Slice:
		w.walk(path+"[0]", t.Elem(), func(object reflect.Value, change func(reflect.Value)) {
			at(object, func(list reflect.Value) {
				if list.Len() == 0 {
					list.Set(reflect.MakeSlice(t, 1, 1))
				}
				change(list.Index(0))
			})
		}, depth+1)
	case t.Kind() == reflect.Map:
		w.walkMap(path, t, at, depth)
	case t.Kind() == reflect.Struct:
		w.walkStruct(path, t, at, depth)
	}
}

func (w *fieldWalk) walkStruct(path string, t reflect.Type, at place, depth int) {
	table := t.Name()
	if other, ok := tableOf[t]; ok {
		table = other
	}
	names, ok := w.tables[table]
	if t.NumField() == 0 {
		return
	}
	if !ok {
		w.unknown = append(w.unknown, fmt.Sprintf("%s: no table of %s", path, t.Name()))
		return
	}
	w.reached[table] = true
	for _, name := range names {
		index := fieldOfName(t, name)
		if index == nil {
			w.unknown = append(w.unknown, fmt.Sprintf("%s: %s has no field %s", path, t.Name(), name))
			continue
		}
		inner := strings.TrimPrefix(path+"."+name, ".")
		if inner == "metadata.name" || inner == "metadata.namespace" {
			continue // these make other objects of it
		}
		w.walk(inner, t.FieldByIndex(index).Type, func(object reflect.Value, change func(reflect.Value)) {
			at(object, func(of reflect.Value) { change(of.FieldByIndex(index)) })
		}, depth+1)
	}
}

// fieldOfName is where a field of that name in JSON is, in t itself or in what is inlined; nil: nowhere.
func fieldOfName(t reflect.Type, name string) []int {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == name {
			return []int{i}
		}
		if tag == "" && field.Anonymous && field.Type.Kind() == reflect.Struct {
			if index := fieldOfName(field.Type, name); index != nil {
				return append([]int{i}, index...)
			}
		}
	}
	return nil
}

// walkMap visits the first entry, which is made where there is none.
func (w *fieldWalk) walkMap(path string, t reflect.Type, at place, depth int) {
	w.walk(path+"[first]", t.Elem(), func(object reflect.Value, change func(reflect.Value)) {
		at(object, func(entries reflect.Value) {
			key, value := reflect.ValueOf("cpu").Convert(t.Key()), reflect.New(t.Elem()).Elem()
			if entries.IsNil() {
				entries.Set(reflect.MakeMap(t))
			}
			if keys := entries.MapKeys(); len(keys) > 0 {
				key = slices.MinFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
				value.Set(entries.MapIndex(key))
			}
			change(value)
			entries.SetMapIndex(key, value)
		})
	}, depth+1)
}

// variant is an object with one odd value.
type variant struct {
	path   string // "spec.priority", "spec.containers[0].ports"
	value  string // for messages
	object runtime.Object
}

// edges makes variants of objects: for each field of the tables the edge values of its type.
type edges struct {
	fieldWalk
	variants []variant
}

// add makes the variants of the base object.
func (e *edges) add(base runtime.Object) {
	e.visit = func(path string, t reflect.Type, at place) {
		switch {
		case slices.Contains(leaves, t):
			e.offer(base, path, t, at)
		case t.Kind() == reflect.Pointer:
			e.set(base, path, "absent", at, reflect.Zero(t))
		case t.Kind() == reflect.Slice:
			e.set(base, path, "absent", at, reflect.Zero(t))
			e.set(base, path, "one empty element", at, reflect.MakeSlice(t, 1, 1))
		case t.Kind() == reflect.Map:
			e.set(base, path, "absent", at, reflect.Zero(t))
			odd := reflect.MakeMap(t)
			odd.SetMapIndex(reflect.ValueOf("odd\xff\x00").Convert(t.Key()), reflect.Zero(t.Elem()))
			e.set(base, path, "an odd key", at, odd)
		case t.Kind() != reflect.Struct:
			e.offer(base, path, t, at)
		}
	}
	e.over(base)
}

// offer adds a variant for each edge value of the type.
func (e *edges) offer(base runtime.Object, path string, t reflect.Type, at place) {
	for _, value := range edgesOf(t) {
		e.set(base, path, fmt.Sprintf("%.60q", fmt.Sprint(value.Interface())), at, value)
	}
}

func (e *edges) set(base runtime.Object, path, what string, at place, value reflect.Value) {
	object := base.DeepCopyObject()
	at(reflect.ValueOf(object).Elem(), func(to reflect.Value) { to.Set(value) })
	e.variants = append(e.variants, variant{path: path, value: what, object: object})
}

// opaqueTexts are JSON that the API server passes on as it came.
var opaqueTexts = []string{
	`{"kind":"K","apiVersion":"x/v1"}`, `{ "b" : 1.0,  "a":1e3 }`,
	`{"a":123456789012345678901234567890,"b":-1E-5}`, `{"a":"\ud800","\udc00b":1}`, "{\"a\":\"\xff\xc0\"}",
	`{"a":1,"a":2}`, `{"a":` + strings.Repeat("[", 1500) + strings.Repeat("]", 1500) + `}`, `{}`, `null`, `""`, `7`,
}

// edgesOf are the values at which a reader of that type may stumble.
func edgesOf(t reflect.Type) []reflect.Value {
	var values []reflect.Value
	offer := func(value any) { values = append(values, reflect.ValueOf(value).Convert(t)) }
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		for _, text := range []string{"-1", "-1Gi", "0", "1n", "-1m", "1e18", "1e30", "9223372036854775807", "-9223372036854775808"} {
			offer(resource.MustParse(text))
		}
	case reflect.TypeFor[metav1.Time]():
		for _, at := range edgesOfTime() {
			offer(metav1.NewTime(at))
		}
	case reflect.TypeFor[metav1.MicroTime]():
		for _, at := range edgesOfTime() {
			offer(metav1.NewMicroTime(at))
		}
	case reflect.TypeFor[intstr.IntOrString]():
		offer(intstr.FromInt32(-1))
		offer(intstr.FromInt32(math.MaxInt32))
		for _, text := range []string{"", "-5%", "50%", "odd", "99999999999%"} {
			offer(intstr.FromString(text))
		}
	case reflect.TypeFor[runtime.RawExtension]():
		for _, text := range opaqueTexts {
			offer(runtime.RawExtension{Raw: []byte(text)})
		}
	default:
		switch t.Kind() {
		case reflect.String:
			for _, text := range []string{"", "-1", "odd", "Odd text \xff\x00 \u2603", strings.Repeat("x", 300)} {
				offer(text)
			}
		case reflect.Int32:
			for _, number := range []int32{math.MinInt32, -1, 0, 1, math.MaxInt32} {
				offer(number)
			}
		case reflect.Int64:
			for _, number := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
				offer(number)
			}
		case reflect.Bool:
			offer(false)
			offer(true)
		default:
			panic("no edge values of " + t.String())
		}
	}
	return values
}

func edgesOfTime() []time.Time {
	return []time.Time{{}, time.Unix(0, 0), time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(1600, 2, 3, 4, 5, 6, 7, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)}
}
