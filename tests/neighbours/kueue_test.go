// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// queues are a quota of eight CPUs on nodes of four racks that have 32, which Kueue itself does not know but for topology.
const queues = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: plain}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: plain
      resources: [{name: cpu, nominalQuota: 8}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team, namespace: story}
spec: {clusterQueue: team}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec:
  levels: [{nodeLabel: example.com/rack}, {nodeLabel: kubernetes.io/hostname}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: racked}
spec: {nodeLabels: {racked: "yes"}, topologyName: racks}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: racked}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: racked
      resources: [{name: cpu, nominalQuota: 100}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: racked, namespace: story}
spec: {clusterQueue: racked}
`

// admitted is what became of the workloads that Kueue admitted.
type admitted struct {
	jobs    time.Duration // until 16 jobs, twice the quota each time, have ended
	group   time.Duration // from the last pod of a group until all of it is bound
	urgent  time.Duration // from a group's creation until it is bound, in another's quota
	refused string        // what is told of pods that Kueue admits and the scheduler refuses
}

func (a admitted) String() string {
	return fmt.Sprintf("16 jobs ended after %s, a group bound %s after its last pod, an urgent one in another's quota after %s; refused: %s",
		a.jobs.Round(10*time.Millisecond), a.group.Round(10*time.Millisecond), a.urgent.Round(10*time.Millisecond), a.refused)
}

// TestWhatKueueAdmitsIsBound has Kueue hold jobs and groups of plain pods back by gates and quota: no pod is tried before it is
// admitted, and each is bound then; groups wait for their last pod, take the quota of less urgent ones, and stay in one rack. What
// Kueue admits and the scheduler refuses says why.
func TestWhatKueueAdmitsIsBound(t *testing.T) {
	ours, theirs, told := besideBoth(t, controlplane.Options{ControllerManager: true, Kwok: true}, admit)
	if told && ours.refused != theirs.refused {
		t.Errorf("refused with %q, by kube-scheduler with %q", ours.refused, theirs.refused)
	}
}

func admit(s *story) admitted {
	for i := range 8 {
		s.createNodes(workload.Node(fmt.Sprintf("node-%d", i), workload.NodeLabel("racked", "yes"),
			workload.NodeLabel("example.com/rack", fmt.Sprintf("rack-%d", i/2))))
	}
	_, err := s.admin.SchedulingV1().PriorityClasses().Create(s.ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000,
	}, metav1.CreateOptions{})
	s.must(err)
	s.startKueue()
	// The webhooks answer once Kueue has its certificate.
	file := filepath.Join(s.dir, "queues.yaml")
	s.must(os.WriteFile(file, []byte(queues), 0o644))
	s.eventually(2*time.Minute, "Kueue to take queues", func() bool {
		_, err := s.plane.Kubectl(s.ctx, controlplane.Admin, "apply", "--server-side", "-f", file)
		return err == nil
	})
	s.kubectl("wait", "--for=condition=Active", "--timeout=60s", "clusterqueue", "--all")

	var a admitted
	began := time.Now()
	for i := range 16 {
		s.createJob(fmt.Sprintf("job-%d", i), 4, workload.Requests("cpu", "1"))
	}
	s.eventually(5*time.Minute, "all jobs to end", func() bool {
		list, err := s.admin.BatchV1().Jobs(namespace).List(s.ctx, metav1.ListOptions{})
		s.must(err)
		ended := 0
		for i := range list.Items {
			ended += int(list.Items[i].Status.Succeeded)
		}
		return ended == 16*4
	})
	a.jobs = time.Since(began)

	a.refused = s.admitInVain()
	a.group, a.urgent = s.admitGroups()
	s.admitToARack()
	s.checkRoom()
	s.checkGates()
	return a
}

// createJob makes a job of that many pods at once, in the team's queue.
func (s *story) createJob(name string, pods int32, options ...workload.PodOption) {
	s.Helper()
	pod := workload.Pod(name, options...)
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err := s.admin.BatchV1().Jobs(namespace).Create(s.ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kueue.x-k8s.io/queue-name": "team"}},
		Spec: batchv1.JobSpec{
			Parallelism: &pods, Completions: &pods,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
		},
	}, metav1.CreateOptions{})
	s.must(err)
}

// admitInVain has Kueue admit what fits on no node, and returns what is told of that.
func (s *story) admitInVain() string {
	s.Helper()
	s.createJob("in-vain", 1, workload.Requests("cpu", "5"))
	var refused *corev1.Pod
	s.must(s.pods.Await(s.within(time.Minute), "a refused pod", func(pods map[string]*corev1.Pod) bool {
		for name, pod := range pods {
			if strings.HasPrefix(name, "in-vain-") && workload.IsUnschedulable(pod) {
				refused = pod
				return true
			}
		}
		return false
	}))
	if status := s.workloadCondition("in-vain", "Admitted"); status != "True" {
		s.Errorf("the workload that the scheduler refuses has Admitted=%q", status)
	}
	s.must(s.admin.BatchV1().Jobs(namespace).Delete(s.ctx, "in-vain", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}))
	_, err := s.plane.Kubectl(s.within(time.Minute), controlplane.Admin, "-n", namespace, "wait", "--for=delete", "--timeout=60s", "pod/"+refused.Name)
	s.must(err)
	return workload.ScheduledCondition(refused).Message
}

// workloadCondition is the status of a condition of the workload that stands for the job.
func (s *story) workloadCondition(job, kind string) string {
	s.Helper()
	var list struct {
		Items []struct {
			Metadata metav1.ObjectMeta
			Status   struct{ Conditions []metav1.Condition }
		}
	}
	s.must(json.Unmarshal([]byte(s.kubectl("-n", namespace, "get", "workloads.kueue.x-k8s.io", "-o", "json")), &list))
	for _, item := range list.Items {
		if len(item.Metadata.OwnerReferences) == 0 || item.Metadata.OwnerReferences[0].Name != job {
			continue
		}
		for _, c := range item.Status.Conditions {
			if c.Type == kind {
				return string(c.Status)
			}
		}
	}
	return ""
}

// member is a pod of a group of plain pods.
func member(group string, i, total int, queue string, options ...workload.PodOption) *corev1.Pod {
	pod := workload.Pod(fmt.Sprintf("%s-%d", group, i), options...)
	pod.Labels["kueue.x-k8s.io/queue-name"] = queue
	pod.Labels["kueue.x-k8s.io/pod-group-name"] = group
	pod.Annotations = map[string]string{"kueue.x-k8s.io/pod-group-total-count": fmt.Sprint(total)}
	return pod
}

// awaitGroup waits until all pods of the group are bound, and returns when the last was.
func (s *story) awaitGroup(group string, total int) (last time.Time) {
	s.Helper()
	for i := range total {
		name := fmt.Sprintf("%s-%d", group, i)
		_, err := s.pods.AwaitPod(s.within(2*time.Minute), name, "bound", workload.IsBound)
		s.must(err)
		if at := s.pods.BoundAt(name); at.After(last) {
			last = at
		}
	}
	return last
}

// admitGroups has a group wait for its last pod, and an urgent one take its quota.
func (s *story) admitGroups() (group, urgent time.Duration) {
	s.Helper()
	cpu := workload.Requests("cpu", "2")
	s.createPods(member("low", 0, 4, "team", cpu), member("low", 1, 4, "team", cpu), member("low", 2, 4, "team", cpu))
	for i := range 3 {
		_, err := s.pods.AwaitPod(s.within(time.Minute), fmt.Sprintf("low-%d", i), "gated", func(pod *corev1.Pod) bool {
			return workload.HasReason(pod, corev1.PodReasonSchedulingGated)
		})
		s.must(err)
	}
	began := time.Now()
	s.createPods(member("low", 3, 4, "team", cpu))
	group = s.awaitGroup("low", 4).Sub(began)

	began = time.Now()
	for i := range 2 {
		s.createPods(member("high", i, 2, "team", workload.Requests("cpu", "3"), workload.PriorityClass("urgent")))
	}
	urgent = s.awaitGroup("high", 2).Sub(began)
	for i := range 4 {
		if pod := s.pods.Pod(fmt.Sprintf("low-%d", i)); pod != nil && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			s.Errorf("pod %s runs on %s although Kueue gave its quota away", pod.Name, pod.Spec.NodeName)
		}
	}
	return group, urgent
}

// admitToARack has Kueue choose nodes of one rack for a group, which the scheduler keeps to.
func (s *story) admitToARack() {
	s.Helper()
	const total = 6
	var pods []*corev1.Pod
	for i := range total {
		pod := member("racked", i, total, "racked", workload.Requests("cpu", "1"))
		pod.Annotations["kueue.x-k8s.io/podset-required-topology"] = "example.com/rack"
		pods = append(pods, pod)
	}
	s.createPods(pods...)
	s.awaitGroup("racked", total)
	racks, nodes := map[string]int{}, s.nodes()
	for i := range total {
		pod := s.pods.Pod(fmt.Sprintf("racked-%d", i))
		node := nodes[pod.Spec.NodeName]
		racks[node.Labels["example.com/rack"]]++
		if host, chosen := pod.Spec.NodeSelector[corev1.LabelHostname]; !chosen || host != node.Name {
			s.Errorf("pod %s is on %s, and Kueue chose %q", pod.Name, node.Name, host)
		}
	}
	if len(racks) != 1 {
		s.Errorf("the group is on racks %v", racks)
	}
}

// checkGates checks that the scheduler tried no pod that was gated: of such it says nothing.
func (s *story) checkGates() {
	s.Helper()
	for _, event := range s.events() {
		if event.Reason == "FailedScheduling" && !strings.HasPrefix(event.Regarding.Name, "in-vain-") {
			s.Errorf("pod %s was tried in vain: %s", event.Regarding.Name, event.Note)
		}
	}
}

// startKueue installs Kueue's kinds and webhooks, and starts it. The webhooks are called by URL, since no network leads to
// services here.
func (s *story) startKueue() {
	s.Helper()
	crds, err := Kueue.Source(s.ctx, "config/components/crd/bases")
	s.must(err)
	port := freePort(s)
	url := fmt.Sprintf("https://127.0.0.1:%d", port)
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	s.must(err)
	// Those that have several versions are converted by a webhook; all use the one that is stored.
	converted := []string{"localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters"}
	for _, file := range files {
		crd := s.readYAML(file)[0]
		kind := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "kueue.x-k8s.io_"), ".yaml")
		if slices.Contains(converted, kind) {
			crd["spec"].(map[string]any)["conversion"] = map[string]any{
				"strategy": "Webhook",
				"webhook": map[string]any{
					"conversionReviewVersions": []string{"v1"},
					"clientConfig":             map[string]any{"url": url + "/convert"},
				},
			}
		}
		s.applyObject(crd)
	}
	s.must(workload.CreateNamespace(s.ctx, s.admin, "kueue-system"))
	certificates := s.createKueueCertificate()
	webhooks, err := Kueue.Source(s.ctx, "config/components/webhook/manifests.yaml")
	s.must(err)
	for _, configuration := range s.readYAML(webhooks) {
		configuration["metadata"].(map[string]any)["name"] = "kueue-" + configuration["metadata"].(map[string]any)["name"].(string)
		var kept []any
		for _, w := range configuration["webhooks"].([]any) {
			client := w.(map[string]any)["clientConfig"].(map[string]any)
			path := client["service"].(map[string]any)["path"].(string)
			if strings.Contains(path, "kueue-x-k8s-io") || strings.HasSuffix(path, "-batch-v1-job") || strings.HasSuffix(path, "--v1-pod") {
				w.(map[string]any)["clientConfig"] = map[string]any{"url": url + path}
				kept = append(kept, w)
			}
		}
		configuration["webhooks"] = kept
		s.applyObject(configuration)
	}
	config := filepath.Join(s.dir, "kueue.yaml")
	s.must(os.WriteFile(config, fmt.Appendf(nil, `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:0"}
metrics: {bindAddress: "127.0.0.1:0"}
webhook: {host: 127.0.0.1, port: %d, certDir: %s}
leaderElection: {leaderElect: false}
clientConnection: {qps: 100, burst: 200}
featureGates: {VisibilityOnDemand: false}
managedJobsNamespaceSelector:
  matchLabels: {kubernetes.io/metadata.name: %s}
integrations:
  frameworks: [batch/job, pod]
`, port, certificates, namespace), 0o644))
	s.start(Kueue, []string{"KUBECONFIG=" + s.plane.Kubeconfig(controlplane.Admin)}, "--config="+config)
}

// readYAML are the objects of a file.
func (s *story) readYAML(file string) []map[string]any {
	s.Helper()
	text, err := os.ReadFile(file)
	s.must(err)
	var objects []map[string]any
	for document := range strings.SplitSeq("\n"+string(text), "\n---\n") {
		var object map[string]any
		s.must(yaml.Unmarshal([]byte(document), &object))
		if object != nil {
			objects = append(objects, object)
		}
	}
	return objects
}

func (s *story) applyObject(object map[string]any) {
	s.Helper()
	text, err := json.Marshal(object)
	s.must(err)
	s.apply(string(text))
}

// createKueueCertificate makes the Secret that Kueue keeps its certificate in, of a form with which it is content, and the
// folder that would be its mount.
func (s *story) createKueueCertificate() string {
	s.Helper()
	const years = 10
	serial := int64(0)
	issue := func(name string, parent *x509.Certificate, parentKey *rsa.PrivateKey) (*x509.Certificate, *rsa.PrivateKey) {
		key, err := rsa.GenerateKey(rand.Reader, 2048) // Kueue reads no other
		s.must(err)
		serial++
		template := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(years, 0, 0),
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: parent == nil,
		}
		if parent == nil {
			parent, parentKey = template, key
		} else {
			template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
			template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
		s.must(err)
		certificate, err := x509.ParseCertificate(der)
		s.must(err)
		return certificate, key
	}
	certificatePEM := func(c *x509.Certificate) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	keyPEM := func(key *rsa.PrivateKey) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	}
	ca, caKey := issue("kueue-ca", nil, nil)
	server, serverKey := issue("kueue-webhook-service.kueue-system.svc", ca, caKey)
	data := map[string][]byte{
		"ca.crt": certificatePEM(ca), "ca.key": keyPEM(caKey), "tls.crt": certificatePEM(server), "tls.key": keyPEM(serverKey),
	}
	_, err := s.admin.CoreV1().Secrets("kueue-system").Create(s.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "kueue-webhook-server-cert"}, Data: data,
	}, metav1.CreateOptions{})
	s.must(err)
	dir := filepath.Join(s.dir, "kueue-certificates")
	s.must(os.MkdirAll(dir, 0o700))
	for name, content := range data {
		s.must(os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return dir
}

// freePort is a loopback port that nothing listens on.
func freePort(s *story) int {
	s.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
