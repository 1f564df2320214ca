// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	clocktesting "k8s.io/utils/clock/testing"
)

// State is a cluster as upstream's scheduler holds it. One goroutine may use it at a time.
type State struct {
	ctx       context.Context
	stop      context.CancelFunc
	scheduler *scheduler.Scheduler
	snapshot  *internalcache.Snapshot
	pods      cache.SharedIndexInformer
	volumes   volumes
	devices   devices
	// clock is the queue's.
	clock    *clocktesting.FakeClock
	requests *requests
	pending  map[string]*corev1.Pod
	placed   map[string]*corev1.Pod
	// unqueued are pods that the queue is still to hear of, in the order of the files: with pod groups it does so once the
	// order of decisions is known.
	unqueued []*corev1.Pod
	// tooEarly are pods that failed because of volumes that were chosen and not yet bound. Binding them wakes no pod that
	// NodeVolumeLimits rejects: it is tried again only after five minutes.
	tooEarly map[string]bool
	// budgets are in the order of their names: where several cover a pod, the order counts, and upstream's is random.
	budgets []*policyv1.PodDisruptionBudget
	// preemptionArgs are DefaultPreemption's, by profile.
	preemptionArgs map[string]runtime.Object
}

// settings are the feature gates and the logger, which upstream keeps for the whole process.
var settings = sync.OnceValue(func() error {
	klog.SetLogger(klog.Logger{})
	// With batching a pod would be judged by what was said about one before it.
	return utilfeature.DefaultMutableFeatureGate.Set("OpportunisticBatching=false")
})

// NewState builds a scheduler of upstream's and shows it the cluster. Close ends it.
func NewState(cluster *Cluster, cfg *config.KubeSchedulerConfiguration) (*State, error) {
	if err := settings(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	s := &State{
		ctx: ctx, stop: stop, snapshot: internalcache.NewEmptySnapshot(),
		clock: clocktesting.NewFakeClock(time.Now()), requests: newRequests(),
		pending: map[string]*corev1.Pod{}, placed: map[string]*corev1.Pod{}, tooEarly: map[string]bool{},
		budgets: slices.SortedFunc(slices.Values(cluster.PodDisruptionBudgets),
			func(a, b *policyv1.PodDisruptionBudget) int { return strings.Compare(Name(a), Name(b)) }),
	}
	s.preemptionArgs = map[string]runtime.Object{}
	for _, p := range cfg.Profiles {
		for _, plugin := range p.PluginConfig {
			if plugin.Name == names.DefaultPreemption {
				s.preemptionArgs[p.SchedulerName] = plugin.Args
			}
		}
	}
	if err := s.fill(cluster, cfg); err != nil {
		stop()
		return nil, err
	}
	return s, nil
}

// Close ends what upstream started in the background.
func (s *State) Close() {
	s.stop()
	s.scheduler.SchedulingQueue.Close()
}

func (s *State) fill(cluster *Cluster, cfg *config.KubeSchedulerConfiguration) error {
	unconnected, err := kubernetes.NewForConfig(&rest.Config{})
	if err != nil {
		return err
	}
	client := client{unconnected, &s.volumes.asked, &s.devices, s.requests}
	// But for those of devices the informers are never started: what they know is put into their stores.
	factory := scheduler.NewInformerFactory(client, 0, nil)
	s.devices.use(factory, cluster)
	s.scheduler, err = scheduler.New(s.ctx, client, factory, nil, noEvents,
		scheduler.WithComponentConfigVersion(cfg.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(ptr[int32](100)),
		scheduler.WithParallelism(1),
		scheduler.WithClock(s.clock),
		scheduler.WithNodeInfoSnapshot(s.snapshot))
	if err != nil {
		return err
	}
	if err := fillListers(factory, cluster); err != nil {
		return err
	}
	s.pods = factory.Core().V1().Pods().Informer()
	s.volumes.use(factory)
	if err := s.devices.start(s.ctx, s.scheduler.Profiles); err != nil {
		return err
	}
	logger := klog.FromContext(s.ctx)
	for _, node := range cluster.Nodes {
		s.scheduler.Cache.AddNode(logger, node)
	}
	s.addPodGroups(cluster)
	for _, pod := range cluster.Pods {
		switch {
		case pod.Spec.NodeName != "":
			if err := s.scheduler.Cache.AddPod(logger, pod); err != nil {
				return err
			}
			s.placed[Name(pod)] = pod
			s.tell(framework.EventAssignedPodAdd, pod)
			if resizeWaits(pod) && s.scheduler.Profiles.HandlesSchedulerName(pod.Spec.SchedulerName) {
				s.pending[Name(pod)] = pod
				s.unqueued = append(s.unqueued, pod)
			}
		default:
			s.pending[Name(pod)] = pod
			if s.scheduler.Profiles.HandlesSchedulerName(pod.Spec.SchedulerName) {
				s.unqueued = append(s.unqueued, pod)
			}
		}
	}
	if !utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		s.enqueue(nil)
	}
	return s.scheduler.Cache.UpdateSnapshot(logger, s.snapshot)
}

// enqueue has the pods wait, those of one rank since the same moment, those without a rank since the last one.
func (s *State) enqueue(ranks map[string]int) {
	since := s.clock.Now()
	for _, pod := range s.unqueued {
		rank, known := ranks[Name(pod)]
		if !known {
			rank = len(ranks)
		}
		s.clock.SetTime(since.Add(time.Duration(rank) * time.Microsecond))
		s.scheduler.Cache.AddPodGroupMember(pod)
		s.scheduler.SchedulingQueue.Add(s.ctx, pod)
		s.tell(framework.EventUnscheduledPodAdd, pod)
	}
	s.clock.SetTime(since.Add(time.Second))
	s.unqueued = nil
}

// tell has the queue hear of an object that came; only pods of groups care before there has been a cycle.
func (s *State) tell(event fwk.ClusterEvent, object any) {
	if len(s.requests.podGroups) > 0 {
		s.scheduler.SchedulingQueue.MoveAllToActiveOrBackoffQueue(klog.FromContext(s.ctx), event, nil, object, nil)
	}
}

func fillListers(factory informers.SharedInformerFactory, cluster *Cluster) error {
	core, apps, storage := factory.Core().V1(), factory.Apps().V1(), factory.Storage().V1()
	return firstError(
		put(core.Nodes().Informer(), cluster.Nodes),
		put(core.Pods().Informer(), cluster.Pods),
		put(core.Namespaces().Informer(), cluster.Namespaces),
		put(core.Services().Informer(), cluster.Services),
		put(core.ReplicationControllers().Informer(), cluster.ReplicationControllers),
		put(apps.ReplicaSets().Informer(), cluster.ReplicaSets),
		put(apps.StatefulSets().Informer(), cluster.StatefulSets),
		put(factory.Policy().V1().PodDisruptionBudgets().Informer(), cluster.PodDisruptionBudgets),
		put(core.PersistentVolumes().Informer(), cluster.PersistentVolumes),
		put(core.PersistentVolumeClaims().Informer(), cluster.PersistentVolumeClaims),
		put(storage.StorageClasses().Informer(), cluster.StorageClasses),
		put(storage.CSINodes().Informer(), cluster.CSINodes),
		put(storage.CSIDrivers().Informer(), cluster.CSIDrivers),
		put(storage.CSIStorageCapacities().Informer(), cluster.CSIStorageCapacities),
		put(storage.VolumeAttachments().Informer(), cluster.VolumeAttachments),
	)
}

func put[O runtime.Object](informer cache.SharedIndexInformer, objects []O) error {
	for _, object := range objects {
		if err := informer.GetStore().Add(object); err != nil {
			return err
		}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func ptr[T any](value T) *T { return &value }

// noEvents gives every profile a recorder that drops what it is told.
func noEvents(string) events.EventRecorderLogger { return droppedEvents{} }

type droppedEvents struct{}

func (d droppedEvents) WithLogger(klog.Logger) events.EventRecorderLogger { return d }

func (droppedEvents) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

var _ profile.RecorderFactory = noEvents

// place puts a pending pod on a node, as upstream's assume does, with the volumes chosen for it there.
func (s *State) place(pod *corev1.Pod, node string, chosen choice) error {
	if err := s.bindVolumes(node, chosen); err != nil {
		return err
	}
	if chosen.allocate != nil {
		if err := chosen.allocate(); err != nil {
			return err
		}
	}
	logger := klog.FromContext(s.ctx)
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = node
	if err := s.scheduler.Cache.AssumePod(logger, assumed); err != nil {
		return err
	}
	s.scheduler.SchedulingQueue.Delete(logger, pod)
	delete(s.pending, Name(pod))
	s.placed[Name(pod)] = assumed
	return s.scheduler.Cache.UpdateSnapshot(logger, s.snapshot)
}

// clearNomination does what upstream does with a pod that failed where no PostFilter plugin nominates it again.
func (s *State) clearNomination(pod *corev1.Pod) {
	if pod.Status.NominatedNodeName == "" {
		return
	}
	cleared := pod.DeepCopy()
	cleared.Status.NominatedNodeName = ""
	s.scheduler.SchedulingQueue.Update(s.ctx, pod, cleared)
	s.pending[Name(pod)] = cleared
	// Preemption looks at the pod as its informer knows it. The store is in memory and takes every pod.
	_ = s.pods.GetStore().Update(cleared)
}
