// SPDX-License-Identifier: Apache-2.0

package neighbours

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// resizes are what became of pods that the VerticalPodAutoscaler's updater resized in place.
type resizes struct {
	grown, shrunk time.Duration // until the updater had resized all pods
	bound         time.Duration // from the smaller recommendation until the pod that waited for the room was bound
}

func (r resizes) String() string {
	return fmt.Sprintf("4 pods grown after %s and shrunk after %s; a pod that waited for the room bound after %s",
		r.grown.Round(10*time.Millisecond), r.shrunk.Round(10*time.Millisecond), r.bound.Round(10*time.Millisecond))
}

// TestWhatTheUpdaterResizesInPlaceCounts has the VerticalPodAutoscaler's updater resize running pods by a recommendation that is
// written here as its recommender would: what they ask for after that counts at once, and what they give back wakes the pod
// that waits for it. Nothing is evicted.
func TestWhatTheUpdaterResizesInPlaceCounts(t *testing.T) {
	besideBoth(t, controlplane.Options{ControllerManager: true, Kwok: true}, resize)
}

func resize(s *story) resizes {
	s.createNodes(workload.Node("node-0"), workload.Node("node-1"))
	s.applySource(VPA, "deploy/vpa-v1-crd-gen.yaml")
	s.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd/verticalpodautoscalers.autoscaling.k8s.io")
	s.actuate()
	s.createDeployment("web", 4, workload.Requests("cpu", "500m", "memory", "128Mi"))
	s.awaitPlaced(time.Minute, 4)
	s.apply(`
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web, namespace: ` + namespace + `}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  updatePolicy: {updateMode: InPlaceOrRecreate}
`)
	s.start(VPA, nil, "--kubeconfig="+s.plane.Kubeconfig(controlplane.Admin), "--updater-interval=2s", "--address=127.0.0.1:0",
		"--use-admission-controller-status=false", "--v=4")

	var r resizes
	began := time.Now()
	s.recommend("1500m")
	r.grown = s.awaitRequests("1500m").Sub(began)
	// Of 4 CPUs each node has 1 left.
	s.createPods(workload.Pod("waits", workload.Requests("cpu", "1500m")), workload.Pod("fits", workload.Requests("cpu", "900m")))
	waits, err := s.pods.AwaitPod(s.within(time.Minute), "waits", "refused", workload.IsUnschedulable)
	s.must(err)
	const want = "0/2 nodes are available: 2 Insufficient cpu."
	if message := workload.ScheduledCondition(waits).Message; len(message) < len(want) || message[:len(want)] != want {
		s.Errorf("the pod that has no room is refused with %q", message)
	}
	_, err = s.pods.AwaitPod(s.within(time.Minute), "fits", "bound", workload.IsBound)
	s.must(err)
	s.checkRoom()

	began = time.Now()
	s.recommend("300m")
	_, err = s.pods.AwaitPod(s.within(2*time.Minute), "waits", "bound", workload.IsBound)
	s.must(err)
	r.bound = s.pods.BoundAt("waits").Sub(began)
	r.shrunk = s.awaitRequests("300m").Sub(began)
	s.checkRoom()
	if bound := s.pods.Bound(); bound != 6 {
		s.Errorf("%d pods were bound, of 6 of which none was to be evicted", bound)
	}
	return r
}

// recommend writes what the recommender would.
func (s *story) recommend(cpu string) {
	s.Helper()
	s.kubectl("-n", namespace, "patch", "verticalpodautoscaler", "web", "--type=merge", "--subresource=status", "-p", fmt.Sprintf(
		`{"status":{"conditions":[{"type":"RecommendationProvided","status":"True","lastTransitionTime":%q}],"recommendation":`+
			`{"containerRecommendations":[{"containerName":"main","target":{"cpu":%q},"lowerBound":{"cpu":%q},"upperBound":{"cpu":%q}}]}}}`,
		time.Now().UTC().Format(time.RFC3339), cpu, cpu, cpu))
}

// awaitRequests waits until each pod of the Deployment asks for so much CPU, and returns when that was seen.
func (s *story) awaitRequests(cpu string) time.Time {
	s.Helper()
	s.must(s.pods.Await(s.within(2*time.Minute), "resized pods", func(pods map[string]*corev1.Pod) bool {
		resized := 0
		for _, pod := range pods {
			if pod.Labels["app"] == "web" && pod.Spec.Containers[0].Resources.Requests.Cpu().String() == cpu {
				resized++
			}
		}
		return resized == 4
	}))
	return time.Now()
}

// actuate gives running pods what they ask for, a moment later, as a kubelet does; kwok does not, and without it the API server
// lets no pod be resized.
func (s *story) actuate() {
	go func() {
		for s.ctx.Err() == nil {
			for _, pod := range s.pods.Pods() {
				asked := pod.Spec.Containers[0].Resources
				if pod.Status.Phase != corev1.PodRunning || len(pod.Status.ContainerStatuses) == 0 || pod.DeletionTimestamp != nil {
					continue
				}
				if has := pod.Status.ContainerStatuses[0].Resources; has != nil && has.Requests.Cpu().Equal(*asked.Requests.Cpu()) {
					continue
				}
				actuated := pod.DeepCopy()
				status := &actuated.Status.ContainerStatuses[0]
				status.Resources = asked.DeepCopy()
				status.AllocatedResources = asked.Requests.DeepCopy()
				// Of an older version it is refused, and the next round has the newer one.
				_, _ = s.admin.CoreV1().Pods(namespace).UpdateStatus(s.ctx, actuated, metav1.UpdateOptions{})
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
}
