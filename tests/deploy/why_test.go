// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/controlplane/programs"
	"berth.dev/tests/internal/daemon"
	"berth.dev/tests/internal/daemon/workload"
	"berth.dev/tests/markdown"
)

// kubelet forwards ports of pods, as a real one does for a container runtime that shares its code; whatever pod and
// port it is, what comes out is a port of this machine.
type kubelet struct{ port int }

func (k kubelet) PortForward(_ context.Context, _, _ string, _ int32, stream io.ReadWriteCloser) error {
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", k.port))
	if err != nil {
		return err
	}
	defer connection.Close()
	ended := make(chan error, 2)
	go func() { _, err := io.Copy(connection, stream); ended <- err }()
	go func() { _, err := io.Copy(stream, connection); ended <- err }()
	return <-ended
}

func (k kubelet) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	options, err := portforward.NewV4Options(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, request, k, "pod", "uid", options, time.Minute, 10*time.Second, portforward.SupportedProtocols)
}

// showPod makes the pod that the replica on this machine would be in a cluster, on a node whose kubelet leads to it.
func showPod(t *testing.T, port int) {
	t.Helper()
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	server := httptest.NewTLSServer(kubelet{port})
	t.Cleanup(server.Close)
	_, kubeletPort, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	number, err := strconv.Atoi(kubeletPort)
	must(t, err)

	host, err := os.Hostname()
	must(t, err)
	node := workload.Node("node-0", workload.Allocatable("cpu", "4", "memory", "4Gi", "pods", "10"))
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(number)
	must(t, workload.CreateNodes(ctx, admin, node))
	deployment, err := admin.AppsV1().Deployments(controlplane.BerthNamespace).Get(ctx, "berth", metav1.GetOptions{})
	must(t, err)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: host, Labels: deployment.Spec.Template.Labels}, Spec: deployment.Spec.Template.Spec}
	pod.Spec.NodeName = node.Name
	pods := admin.CoreV1().Pods(controlplane.BerthNamespace)
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	must(t, err)
	made.Status.Phase = corev1.PodRunning
	_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		now := int64(0)
		if err := pods.Delete(ctx, host, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Error(err)
		}
		// What else a test cleans up may have taken it along.
		if err := admin.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

// shell is where commands of a user run: with kubectl and, as its plugin, Berth on the path.
type shell struct {
	t      *testing.T
	folder string
	user   controlplane.User
}

func newShell(t *testing.T, user controlplane.User) shell {
	t.Helper()
	s := shell{t, t.TempDir(), user}
	must(t, os.Symlink(program.Path, filepath.Join(s.folder, "kubectl-berth")))
	must(t, os.Symlink(shared.Binary(programs.Kubectl), filepath.Join(s.folder, "kubectl")))
	return s
}

// run returns what a command line prints, and its exit code.
func (s shell) run(line string) (stdout, stderr string, code int) {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), "sh", "-c", line)
	command.Dir = root
	command.Env = append(os.Environ(), "KUBECONFIG="+shared.Kubeconfig(s.user), "PATH="+s.folder+":"+os.Getenv("PATH"), "KUBECACHEDIR="+s.folder)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return out.String(), problems.String(), command.ProcessState.ExitCode()
}

// until runs the line until it prints the text.
func (s shell) until(line, text string) string {
	s.t.Helper()
	var stdout string
	waitFor(s.t, line+" to print "+text, func() bool {
		var stderr string
		stdout, stderr, _ = s.run(line)
		if stderr != "" {
			s.t.Logf("%s", stderr)
		}
		return strings.Contains(stdout, text)
	})
	return stdout
}

var attempts = regexp.MustCompile(`after \d+ attempts?`)

// The page's own commands, from nothing to the answer, and what it says they print.
func TestFromApplyToWhyWithoutAnotherFlag(t *testing.T) {
	_, port := startShipped(t)
	showPod(t, port)
	ctx, admin := t.Context(), shared.Client(controlplane.Admin)
	must(t, workload.CreateNodes(ctx, admin, workload.Node("node-1", workload.Allocatable("cpu", "4", "memory", "4Gi", "pods", "10"))))
	t.Cleanup(func() {
		if err := admin.CoreV1().Nodes().Delete(context.Background(), "node-1", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	lines, want := transcript(t)
	s := newShell(t, controlplane.Admin)
	for _, line := range lines[:len(lines)-1] {
		if stdout, stderr, code := s.run(line); code != 0 {
			t.Fatalf("%s: %s%s", line, stdout, stderr)
		}
	}
	t.Cleanup(func() {
		now := int64(0)
		if err := admin.CoreV1().Pods("default").Delete(context.Background(), "big", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Error(err)
		}
	})
	got := s.until(lines[len(lines)-1], "Waits for an event that may help")
	if got := attempts.ReplaceAllString(got, "after 1 attempt"); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("the page says\n%s\nand it is\n%s", want, got)
	}
}

// transcript is what docs/explain.md has under "From nothing": commands, and what the last prints.
func transcript(t *testing.T) (lines []string, printed string) {
	t.Helper()
	const page = "docs/explain.md"
	text, err := os.ReadFile(filepath.Join(root, page))
	must(t, err)
	blocks, err := markdown.Blocks(page, string(text))
	must(t, err)
	for i, b := range blocks {
		if strings.Contains(b.Marks[markdown.NotRun], "tests/deploy/why_test.go") && i+1 < len(blocks) {
			return strings.Split(strings.TrimSpace(b.Text), "\n"), blocks[i+1].Text
		}
	}
	t.Fatalf("%s has no such block", page)
	return nil, ""
}

func TestWhoMayGetAPodMayAskWhyItWaits(t *testing.T) {
	_, port := startShipped(t)
	showPod(t, port)
	busy(t, "why", "berth")
	grant(t, "why", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}})
	// What anyone needs who asks the replica by its Lease.
	grant(t, controlplane.BerthNamespace,
		rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/portforward"}, Verbs: []string{"get", "create"}})
	s := newShell(t, controlplane.Nobody)
	answer := s.until("kubectl berth why unfit -n why", "Waits for an event that may help")
	if !strings.HasPrefix(answer, "why/unfit: unschedulable (profile berth)\n") {
		t.Errorf("%s", answer)
	}
	// Others' pods, and what names other objects, are not for them; and they end soon.
	for _, c := range []struct{ line, says string }{
		{"kubectl berth why unfit -n why --fix", `cannot get path "/debug/explain"`},
		{"kubectl berth why web -n default", `nor get resource "pods" in API group "" in the namespace "default"`},
	} {
		began := time.Now()
		stdout, stderr, code := s.run(c.line)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, "Missing rights, at the cluster scope: list pods, list nodes") {
			t.Errorf("%s: %d\n%s%s", c.line, code, stdout, stderr)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %s", c.line, took)
		}
	}
}

// grant gives user nobody rights in a namespace.
func grant(t *testing.T, namespace string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	ctx, rbac := t.Context(), shared.Client(controlplane.Admin).RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "asks-why"}, Rules: rules}
	_, err := rbac.Roles(namespace).Create(ctx, role, metav1.CreateOptions{})
	must(t, err)
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: string(controlplane.Nobody)}},
	}
	_, err = rbac.RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		_ = rbac.RoleBindings(namespace).Delete(context.Background(), role.Name, metav1.DeleteOptions{})
		_ = rbac.Roles(namespace).Delete(context.Background(), role.Name, metav1.DeleteOptions{})
	})
}

func TestAStandbySaysThatItIsOne(t *testing.T) {
	_, port := startShipped(t)
	busy(t, "standby", "berth")
	options, other := replica(t)
	standby, err := daemon.Start(program, options)
	must(t, err)
	t.Cleanup(func() {
		if err := standby.Stop(); err != nil {
			t.Error(err)
		}
	})
	ask := func(port int, method, path, body string) (answer, leads string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), strings.NewReader(body))
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+shared.Token(controlplane.Admin))
		response, err := anyCertificate.Do(request)
		if err != nil {
			return err.Error(), ""
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		must(t, err)
		return string(text), response.Header.Get("Berth-Leading")
	}
	get := func(port int, path string) (body, leads string) {
		t.Helper()
		return ask(port, http.MethodGet, path, "")
	}
	const pod = "/debug/explain?pod=standby/unfit"
	waitFor(t, "the standby to know the pod", func() bool {
		body, _ := get(other, pod)
		return strings.Contains(body, `"pod":"standby/unfit"`)
	})
	questions := map[string]string{pod: "", "/debug/explain": "", "/debug/queue": "", "/debug/cache": "", "/debug/simulate": `{"reschedule": true}`}
	for path, question := range questions {
		method := http.MethodGet
		if question != "" {
			method = http.MethodPost
		}
		for at, want := range map[int]string{port: "true", other: "false"} {
			body, leads := ask(at, method, path, question)
			if leads != want || !strings.HasPrefix(body, `{"apiVersion":"berth.dev/v1","leading":`+want+`,`) {
				t.Errorf("%s of the replica that leads=%s: %s %.200s", path, want, leads, body)
			}
		}
	}
	table, _ := get(other, pod+"&output=table")
	if !strings.HasPrefix(table, "This replica does not lead: ") || strings.Contains(table, "activeQ") ||
		!strings.Contains(table, "\nstandby/unfit: unschedulable") {
		t.Errorf("the standby's table:\n%s", table)
	}
	counted := regexp.MustCompile(`scheduler_pending_pods\{queue="unschedulable"\} [1-9]`)
	waitFor(t, "the leader's count", func() bool {
		body, _ := get(port, "/metrics")
		return counted.MatchString(body)
	})
	for range 3 {
		if body, _ := get(other, "/metrics"); strings.Contains(body, "scheduler_pending_pods{queue=\"active\"} ") &&
			!strings.Contains(body, "scheduler_pending_pods{queue=\"active\"} 0\n") {
			t.Error("the standby exports pending pods")
		}
		time.Sleep(time.Second)
	}
}
