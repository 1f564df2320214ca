// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
)

// The versions that are built. Kubernetes and etcd are pinned by go.mod, which a test holds equal
// to these; kwok is a module of its own.
const (
	KubernetesVersion = "v1.37.1"
	EtcdVersion       = "v3.7.0"
	KwokVersion       = "v0.8.0"
)

// The programs of a control plane, by the names of their binaries.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubectl           = "kubectl"
	Kwok              = "kwok"
)

// mains are the packages of the programs that this module's go.mod pins.
var mains = map[string]string{
	Etcd:              "go.etcd.io/etcd/server/v3",
	APIServer:         "k8s.io/kubernetes/cmd/kube-apiserver",
	ControllerManager: "k8s.io/kubernetes/cmd/kube-controller-manager",
	Scheduler:         "k8s.io/kubernetes/cmd/kube-scheduler",
	Kubectl:           "k8s.io/kubernetes/cmd/kubectl",
}

const (
	kwokModule = "sigs.k8s.io/kwok"
	kwokMain   = kwokModule + "/cmd/kwok"
)

// linkerFlags strip the binaries and stamp the Kubernetes release into them. Without the stamp
// /version reports a v0.0.0, and clients that compare versions go wrong.
func linkerFlags() string {
	major, minor := majorMinor(KubernetesVersion)
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, set := range []string{
			"gitVersion=" + KubernetesVersion,
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

// versionKey names the cache folder of one set of binaries: a new version of anything that goes
// into them, or another way to build them, is another folder.
func versionKey() string {
	recipe := sha256.Sum256([]byte(linkerFlags() + fmt.Sprint(mains, kwokMain, kwokStages, buildFlags)))
	goVersion := strings.ReplaceAll(runtime.Version(), " ", "_")
	return fmt.Sprintf("k8s-%s_etcd-%s_kwok-%s_%s_%s-%s_%s", KubernetesVersion, EtcdVersion, KwokVersion,
		goVersion, runtime.GOOS, runtime.GOARCH, hex.EncodeToString(recipe[:4]))
}
