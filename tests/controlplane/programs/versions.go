// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
)

// The versions that are built, pinned by go.mod, which a test holds equal to these.
const (
	KubernetesVersion = "v1.37.1"
	EtcdVersion       = "v3.7.0"
	KwokVersion       = "v0.8.0"
)

// KubernetesVariable names the minor release of Kubernetes whose servers are run, such as 1.36. Unset: that
// of KubernetesVersion.
const KubernetesVariable = "BERTH_KUBERNETES"

// olderVersions are the other releases that can be run, by minor. Each is pinned by a module of its own
// in releases/, which a test holds equal to this.
var olderVersions = map[string]string{
	"1.36": "v1.36.3",
	"1.35": "v1.35.4",
}

// olderMains are the programs of an older release; the others are always those of KubernetesVersion.
var olderMains = map[string]string{
	APIServer:         mains[APIServer],
	ControllerManager: mains[ControllerManager],
}

// Releases are the minor releases whose servers can be run, newest first.
func Releases() []string {
	all := append(slices.Sorted(maps.Keys(olderVersions)), minorOf(KubernetesVersion))
	slices.Reverse(all)
	return all
}

// Kubernetes is the version of the servers that are run.
func Kubernetes() (version string, err error) {
	minor := os.Getenv(KubernetesVariable)
	if minor == "" || minor == minorOf(KubernetesVersion) {
		return KubernetesVersion, nil
	}
	version, ok := olderVersions[minor]
	if !ok {
		known := append(slices.Sorted(maps.Keys(olderVersions)), minorOf(KubernetesVersion))
		return "", fmt.Errorf("%s is %q; there are %s", KubernetesVariable, minor, strings.Join(known, ", "))
	}
	return version, nil
}

// SchedulerFlags are those of kube-scheduler beside servers of an older release: it emulates that release, since it does not
// start without a kind that it watches.
func SchedulerFlags() ([]string, error) {
	version, err := Kubernetes()
	if err != nil || version == KubernetesVersion {
		return nil, err
	}
	return []string{"--emulated-version=" + minorOf(version)}, nil
}

// The programs of a control plane, by the names of their binaries.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubectl           = "kubectl"
	Kwok              = "kwok"
)

const kwokModule = "sigs.k8s.io/kwok"

// mains are the packages of the programs that this module's go.mod pins.
var mains = map[string]string{
	Etcd:              "go.etcd.io/etcd/server/v3",
	APIServer:         "k8s.io/kubernetes/cmd/kube-apiserver",
	ControllerManager: "k8s.io/kubernetes/cmd/kube-controller-manager",
	Scheduler:         "k8s.io/kubernetes/cmd/kube-scheduler",
	Kubectl:           "k8s.io/kubernetes/cmd/kubectl",
	Kwok:              kwokModule + "/cmd/kwok",
}

// LinkerFlags strip the binaries and stamp the Kubernetes release into them. Without the stamp
// /version reports a v0.0.0, and clients that compare versions go wrong.
func LinkerFlags(version string) string {
	major, minor := majorMinor(version)
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, set := range []string{
			"gitVersion=" + version,
			"gitMajor=" + major,
			"gitMinor=" + minor,
			"gitCommit=",
			"gitTreeState=clean",
			"buildDate=1970-01-01T00:00:00Z",
		} {
			flags = append(flags, "-X", pkg+"."+set)
		}
	}
	return strings.Join(flags, " ")
}

func majorMinor(version string) (major, minor string) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return parts[0], parts[1]
}

// minorOf makes 1.37 of v1.37.1.
func minorOf(version string) string {
	major, minor := majorMinor(version)
	return major + "." + minor
}

// versionKey names the cache folder of one set of binaries: a new version of anything that goes
// into them, or another way to build them, is another folder.
func versionKey() string {
	return fmt.Sprintf("k8s-%s_etcd-%s_kwok-%s_%s", KubernetesVersion, EtcdVersion, KwokVersion,
		recipeKey(LinkerFlags(KubernetesVersion)+fmt.Sprint(mains, kwokStages, buildFlags)))
}

// olderKey names that of an older release.
func olderKey(version string) string {
	return fmt.Sprintf("k8s-%s_%s", version, recipeKey(LinkerFlags(version)+fmt.Sprint(olderMains, buildFlags)))
}

func recipeKey(recipe string) string {
	sum := fnv.New32a()
	sum.Write([]byte(recipe))
	goVersion := strings.ReplaceAll(runtime.Version(), " ", "_")
	return fmt.Sprintf("%s_%s-%s_%08x", goVersion, runtime.GOOS, runtime.GOARCH, sum.Sum32())
}
