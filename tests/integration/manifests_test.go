// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/internal/daemon/workload"
)

func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// createAdmissionObjects makes what pods of the test's namespace are admitted by: two LimitRanges, and a PriorityClass and a
// RuntimeClass of the namespace's name.
func (e *env) createAdmissionObjects() {
	e.Helper()
	for name, item := range map[string]corev1.LimitRangeItem{
		"cpu":  {Type: corev1.LimitTypeContainer, Default: amounts("cpu", "2"), DefaultRequest: amounts("cpu", "100m")},
		"rest": {Type: corev1.LimitTypeContainer, Max: amounts("memory", "3Gi"), Min: amounts("ephemeral-storage", "1Mi")},
	} {
		limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypePersistentVolumeClaim, Max: amounts("storage", "1Gi")}, item}}}
		_, err := e.admin.CoreV1().LimitRanges(e.namespace).Create(e.ctx, limits, metav1.CreateOptions{})
		e.must(err)
	}
	never := corev1.PreemptNever
	priorities, sandboxes := e.admin.SchedulingV1().PriorityClasses(), e.admin.NodeV1().RuntimeClasses()
	_, err := priorities.Create(e.ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: e.namespace}, Value: 7, PreemptionPolicy: &never}, metav1.CreateOptions{})
	e.must(err)
	_, err = sandboxes.Create(e.ctx, &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: e.namespace}, Handler: "sandbox",
		Overhead: &nodev1.Overhead{PodFixed: amounts("cpu", "250m", "memory", "120Mi")},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"sandbox": "yes", "zone": "a"}, Tolerations: []corev1.Toleration{
			{Key: "sandbox", Operator: corev1.TolerationOpExists}, {Key: "zone", Operator: corev1.TolerationOpEqual, Value: "a"},
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}},
	}, metav1.CreateOptions{})
	e.must(err)
	e.Cleanup(func() {
		_ = priorities.Delete(context.Background(), e.namespace, metav1.DeleteOptions{})
		_ = sandboxes.Delete(context.Background(), e.namespace, metav1.DeleteOptions{})
	})
}

// manifests are pods of which an API server makes something else.
func (e *env) manifests() []*corev1.Pod {
	limits := func(pairs ...string) workload.PodOption {
		return func(pod *corev1.Pod) {
			workload.Requests(pairs...)(pod)
			resources := &pod.Spec.Containers[0].Resources
			resources.Limits, resources.Requests = resources.Requests, nil
		}
	}
	sandboxed := func(pod *corev1.Pod) { pod.Spec.RuntimeClassName = &e.namespace }
	tolerates := func(tolerations ...corev1.Toleration) workload.PodOption {
		return func(pod *corev1.Pod) { pod.Spec.Tolerations = append(pod.Spec.Tolerations, tolerations...) }
	}
	pods := []*corev1.Pod{
		workload.Pod("plain"),
		workload.Pod("requests", workload.Requests("cpu", "300m"), func(pod *corev1.Pod) {
			pod.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "i"}}
		}),
		workload.Pod("limits", limits("memory", "1Gi", "example.com/gpu", "2"), workload.PriorityClass(e.namespace)),
		workload.Pod("whole", workload.Requests("memory", "64Mi"), func(pod *corev1.Pod) {
			pod.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{
				"cpu": resource.MustParse("4"), "memory": resource.MustParse("6Gi")}}
		}),
		workload.Pod("host", func(pod *corev1.Pod) {
			pod.Spec.HostNetwork = true
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolUDP}}
		}),
		workload.Pod("sandboxed", sandboxed),
		workload.Pod("selects", sandboxed, workload.NodeSelector("zone", "a"), workload.NodeSelector("disk", "ssd")),
		workload.Pod("tolerates", sandboxed, tolerates(
			corev1.Toleration{Key: "sandbox", Operator: corev1.TolerationOpEqual, Value: "yes", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: "zone", Value: "a"},
			corev1.Toleration{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists})),
		workload.Pod("tolerates-all", sandboxed, tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})),
	}
	for _, pod := range pods {
		pod.TypeMeta, pod.Namespace = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, e.namespace
	}
	return pods
}

// podSpecs are those of the dump's pods, by name. What the API server states though it means the same is added where it is
// missing, and limits of a pod as a whole, which scheduling does not read, are left out.
func (e *env) podSpecs(dump []byte) map[string]map[string]any {
	e.Helper()
	var list struct {
		Items []struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
			Spec     map[string]any
		}
	}
	e.must(json.Unmarshal(dump, &list))
	specs := map[string]map[string]any{}
	for _, item := range list.Items {
		if item.Kind != "Pod" || item.Metadata.Namespace != e.namespace {
			continue
		}
		specs[item.Metadata.Name] = item.Spec
		if _, stated := item.Spec["priority"]; !stated {
			item.Spec["priority"] = 0.0
		}
		if _, stated := item.Spec["preemptionPolicy"]; !stated {
			item.Spec["preemptionPolicy"] = "PreemptLowerPriority"
		}
		if whole, stated := item.Spec["resources"].(map[string]any); stated {
			delete(whole, "limits")
		}
	}
	return specs
}

// The API server and Berth make pods of the same manifests.
func TestManifestsAreAdmittedAsTheAPIServerAdmitsThem(t *testing.T) {
	needsKubernetes(t, "1.37", "defaults of whole pods after admission")
	e := newEnv(t)
	if program.Peer {
		t.Skip("kube-scheduler reads no manifests")
	}
	e.manyNodes(1)
	e.createAdmissionObjects()
	pods := e.manifests()
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": pods})
	e.must(err)
	manifests := filepath.Join(e.dir, "manifests.json")
	e.must(os.WriteFile(manifests, text, 0o644))
	out, err := exec.CommandContext(e.ctx, program.Path, "dump", "--cluster", e.berthDump(), "--cluster", manifests).Output()
	e.must(err)
	have := e.podSpecs(out)
	e.createPods(pods...)
	out, err = os.ReadFile(e.berthDump())
	e.must(err)
	want := e.podSpecs(out)
	if len(want) != len(pods) || len(have) != len(pods) {
		t.Fatalf("of %d pods the API server has %d, Berth %d", len(pods), len(want), len(have))
	}
	for name, spec := range want {
		if !reflect.DeepEqual(have[name], spec) {
			berths, _ := json.Marshal(have[name])
			servers, _ := json.Marshal(spec)
			t.Errorf("%s:\nBerth          %s\nthe API server %s", name, berths, servers)
		}
	}
}

// problemsOf takes apart what LimitRanger says of a pod, or Berth in its words; each says it in an order of its own.
func problemsOf(text string) (problems []string) {
	text = strings.Trim(strings.TrimSpace(text), "[]")
	starts := regexp.MustCompile(`(?:^|, )(?:(?:minimum|maximum) \S+ usage|\S+ max limit to request ratio) per `).FindAllStringIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		problems = append(problems, strings.TrimPrefix(text[at[0]:end], ", "))
	}
	slices.Sort(problems)
	return problems
}

// boundedPods are some within the bounds of a LimitRange, and some that are out of one or of several.
func (e *env) boundedPods() (pods []*corev1.Pod) {
	random := rand.New(rand.NewPCG(40, 0))
	list := func(p float64, memory ...string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for _, one := range []struct {
			name   corev1.ResourceName
			values []string
		}{{"cpu", []string{"100m", "500m", "900m", "1", "1500m", "2"}}, {"memory", memory}, {"example.com/gpu", []string{"1", "2", "3"}}} {
			if drawn, value := random.Float64() < p, one.values[random.IntN(len(one.values))]; drawn {
				list[one.name] = resource.MustParse(value)
			}
		}
		return list
	}
	container := func(name string) corev1.Container {
		c := corev1.Container{Name: name, Image: "i"}
		c.Resources.Requests, c.Resources.Limits = list(0.7, "16Mi", "64Mi", "1Gi"), list(0.5, "1Gi", "2Gi", "5Gi")
		for resource, limit := range c.Resources.Limits {
			// What validation demands: a request is no more than the limit, and equal where no node may promise more.
			if request, ok := c.Resources.Requests[resource]; ok && (request.Cmp(limit) > 0 || resource == "example.com/gpu") {
				c.Resources.Requests[resource] = limit
			}
		}
		if request, ok := c.Resources.Requests["example.com/gpu"]; ok {
			c.Resources.Limits["example.com/gpu"] = request
		}
		return c
	}
	for i := range 36 {
		pod := workload.Pod(fmt.Sprintf("bounded-%02d", i))
		pod.TypeMeta, pod.Namespace = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, e.namespace
		pod.Spec.Containers = []corev1.Container{container("main")}
		if i%3 == 0 {
			pod.Spec.Containers = append(pod.Spec.Containers, container("beside"))
		}
		if i%4 == 0 {
			pod.Spec.InitContainers = []corev1.Container{container("init")}
		}
		if i%6 == 0 {
			always := corev1.ContainerRestartPolicyAlways
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, container("sidecar"))
			pod.Spec.InitContainers[len(pod.Spec.InitContainers)-1].RestartPolicy = &always
		}
		pods = append(pods, pod)
	}
	return pods
}

// The API server and Berth refuse the same manifests, with the same words.
func TestLimitRangesBoundManifestsAsTheAPIServerBoundsThem(t *testing.T) {
	e := newEnv(t)
	if program.Peer {
		t.Skip("kube-scheduler reads no manifests")
	}
	e.manyNodes(1)
	_, err := e.admin.CoreV1().LimitRanges(e.namespace).Create(e.ctx, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "bounds"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, Min: amounts("memory", "32Mi"), Max: amounts("cpu", "1500m", "memory", "4Gi"),
				MaxLimitRequestRatio: amounts("cpu", "2.5")},
			{Type: corev1.LimitTypePod, Min: amounts("cpu", "200m"), Max: amounts("cpu", "3", "example.com/gpu", "3"),
				MaxLimitRequestRatio: amounts("memory", "40")},
		}},
	}, metav1.CreateOptions{})
	e.must(err)
	dump := e.berthDump()
	seen := map[string]int{}
	for _, pod := range e.boundedPods() {
		_, err := e.admin.CoreV1().Pods(e.namespace).Create(e.ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		// Of a request that is above the limit that it was given it says so, and does not look at bounds any more.
		refused, invalid := err != nil, apierrors.IsInvalid(err)
		if refused && !invalid && !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
		var want []string
		if refused && !invalid {
			_, why, _ := strings.Cut(err.Error(), " is forbidden: ")
			want = problemsOf(why)
		}
		text, failure := json.Marshal(pod)
		e.must(failure)
		file := filepath.Join(e.dir, "pod.json")
		e.must(os.WriteFile(file, text, 0o644))
		command := exec.CommandContext(e.ctx, program.Path, "simulate", "--cluster", dump, "--add", file)
		var said strings.Builder
		command.Stderr = &said
		code := 0
		var failed *exec.ExitError
		if failure := command.Run(); errors.As(failure, &failed) {
			code = failed.ExitCode()
		} else {
			e.must(failure)
		}
		_, why, _ := strings.Cut(said.String(), `LimitRange "bounds": `)
		have := problemsOf(why)
		if (code == 2) != refused || !invalid && !slices.Equal(have, want) {
			t.Errorf("%s\nBerth ends with %d: %s\nand the API server says %v", text, code, said.String(), err)
		}
		if !refused {
			seen["fits"]++
		}
		for _, problem := range want {
			for _, word := range []string{"minimum", "maximum", "ratio", "per Container", "per Pod", "request is", "limit is", "ratio is", "No limit"} {
				if strings.Contains(problem, word) {
					seen[word]++
				}
			}
		}
	}
	if len(seen) != 10 {
		t.Errorf("not all was seen: %v", seen)
	}
	t.Log(seen)
}
