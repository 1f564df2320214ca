// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"berth.dev/tests/controlplane"
	"berth.dev/tests/internal/daemon/workload"
)

// parameterTexts are objects that the API server takes as a driver's parameters. Go's encoder would write each of them in
// another way.
var parameterTexts = map[string]string{
	"struct-order":   `{"kind":"K","apiVersion":"x/v1"}`,
	"spaces":         `{"a": 1}`,
	"lines":          "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n",
	"empty":          `{ }`,
	"order":          `{"b":1,"a":{"d":1,"c":2}}`,
	"fraction":       `{"a":1.0}`,
	"exponent":       `{"a":1e3}`,
	"minus-zero":     `{"a":-0}`,
	"twice":          `{"a":1,"a":2}`,
	"null":           `{"b":null,"a":null}`,
	"escaped":        `{"a":"\u0041"}`,
	"slash":          `{"a":"\/"}`,
	"markup":         `{"a":"<&>"}`,
	"large-number":   `{"a":123456789012345678901234567890}`,
	"half-surrogate": `{"a":"\ud800"}`,
	"no-utf8":        "{\"a\":\"\xff\"}",
	"deep":           `{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
}

// TestDriversParametersKeepTheirBytes lets two pods share each of the claims, one after the other, and refuses a third one's
// binding. In between the driver says of the device what it says in such a text, too.
func TestDriversParametersKeepTheirBytes(t *testing.T) {
	checkParameters(t, "application/vnd.kubernetes.protobuf", parameterTexts)
}

// What is copied into an allocation from an object that came as JSON has been through the API server's encoder before.
func TestDriversParametersKeepTheirBytesThoughObjectsComeAsJSON(t *testing.T) {
	checkParameters(t, "application/json", parameterTexts)
}

func checkParameters(t *testing.T, contentType string, texts map[string]string) {
	copiesAreExact := contentType != "application/json"
	e := newDeviceEnv(t, 1, len(texts))
	e.refusals = true // in these words the API server reports the policy
	resources := e.admin.ResourceV1()
	class := workload.DeviceClass("configured")
	class.Spec.Config = []resourcev1.DeviceClassConfiguration{{DeviceConfiguration: opaqueParameters(`{"of": "the class"}`)}}
	_, err := resources.DeviceClasses().Create(e.ctx, class, metav1.CreateOptions{})
	e.must(err)
	for name, text := range texts {
		spec := workload.DeviceRequest("configured", 1)
		spec.Devices.Config = []resourcev1.DeviceClaimConfiguration{{DeviceConfiguration: opaqueParameters(text)}}
		e.createDeviceClaim(name, spec)
	}
	config := fmt.Sprintf("clientConnection: {qps: 5000, burst: 5000, contentType: %s}", contentType)
	user := controlplane.Berth
	if program.Peer {
		user = controlplane.KubeScheduler
	}
	e.startAs(user, config)
	createPods := func(prefix string) {
		for name := range texts {
			e.createPods(workload.Pod(prefix+name, workload.UseDevices(name, "")))
		}
	}

	createPods("first-")
	e.must(e.pods.AwaitBound(e.within(30*time.Second), len(texts)))
	for name, claim := range e.deviceClaims() {
		device := claim.Status.Allocation.Devices.Results[0]
		claim.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: device.Driver, Pool: device.Pool, Device: device.Device,
			Data: &runtime.RawExtension{Raw: []byte(texts[name])}}}
		_, err := resources.ResourceClaims(e.namespace).UpdateStatus(e.ctx, claim, metav1.UpdateOptions{})
		e.must(err)
	}
	createPods("second-")
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 2*len(texts)))
	for name, claim := range e.checkParameters(texts, copiesAreExact) {
		if len(claim.Status.ReservedFor) != 2 {
			e.Errorf("claim %s is reserved for %v, want two pods", name, claim.Status.ReservedFor)
		}
	}

	if program.Peer {
		return // its patch that takes a reservation back is refused (docs/differences.md)
	}
	// A third one has its reservation taken back.
	e.refuseBindingsTo("g-0")
	createPods("third-")
	for name := range texts {
		e.awaitEvents("FailedScheduling", "third-"+name, 1)
	}
	// Each is tried again now and then.
	back := map[string]bool{}
	e.eventually("each third reservation to be taken back", func() bool {
		for name, claim := range e.deviceClaims() {
			if len(claim.Status.ReservedFor) == 2 {
				back[name] = true
			}
		}
		return len(back) == len(texts)
	})
	e.checkParameters(texts, copiesAreExact)
}

func opaqueParameters(text string) resourcev1.DeviceConfiguration {
	return resourcev1.DeviceConfiguration{Opaque: &resourcev1.OpaqueDeviceConfiguration{
		Driver: workload.DeviceDriver, Parameters: runtime.RawExtension{Raw: []byte(text)}}}
}

// checkParameters checks that what drivers read and say is what was written, byte for byte, and returns the claims by name.
func (e *env) checkParameters(texts map[string]string, copiesAreExact bool) map[string]*resourcev1.ResourceClaim {
	e.Helper()
	claims := e.deviceClaims()
	for name, claim := range claims {
		text := []byte(texts[name])
		check := func(what string, got []byte, want []byte, exactly bool) {
			if !bytes.Equal(got, want) && (exactly || !sameJSON(got, want)) {
				e.Errorf("claim %s: %s %q, want %q", name, what, got, want)
			}
		}
		check("parameters", claim.Spec.Devices.Config[0].Opaque.Parameters.Raw, text, true)
		allocated := claim.Status.Allocation.Devices.Config
		if len(allocated) != 2 {
			e.Errorf("claim %s has %d configurations, want the class's and its own", name, len(allocated))
			continue
		}
		check("the class's parameters", allocated[0].Opaque.Parameters.Raw, []byte(`{"of": "the class"}`), copiesAreExact)
		check("its allocation's parameters", allocated[1].Opaque.Parameters.Raw, text, copiesAreExact)
		if len(claim.Status.Devices) != 1 {
			e.Errorf("claim %s: what the driver says of its device is %v", name, claim.Status.Devices)
			continue
		}
		check("the driver's data", claim.Status.Devices[0].Data.Raw, text, true)
		if claim.ManagedFields == nil {
			e.Errorf("claim %s: its managedFields are gone", name)
		}
	}
	return claims
}

func sameJSON(one, other []byte) bool {
	var a, b any
	return json.Unmarshal(one, &a) == nil && json.Unmarshal(other, &b) == nil && reflect.DeepEqual(a, b)
}

// TestVolumesKeepTextThatIsNotUTF8 binds a volume to one claim, and has another volume made for the other. Only clients that
// write protobuf can store such text.
func TestVolumesKeepTextThatIsNotUTF8(t *testing.T) {
	const text = "a\xffb"
	odd := map[string]string{"odd": text}
	e := newVolumeEnv(t)
	e.provision(nil)
	volume := workload.Volume(e.volumeName("odd"), "static", "1Gi", corev1.LabelTopologyZone, "za")
	volume.Annotations = odd
	volume.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
		Driver: "disk.csi.example", VolumeHandle: text, VolumeAttributes: odd}}
	_, err := e.admin.CoreV1().PersistentVolumes().Create(e.ctx, volume, metav1.CreateOptions{})
	e.must(err)
	e.awaitVolumesAvailable()
	e.startForVolumes(30 * time.Second)
	for _, class := range []string{"static", "made"} {
		claim := workload.Claim(class, class, "1Gi")
		claim.Annotations = odd
		e.createClaims(claim)
		e.createPods(workload.Pod(class, workload.UseClaim(class)))
	}
	e.must(e.pods.AwaitBound(e.within(30*time.Second), 2))
	e.awaitVolumeOf("static", volume.Name)
	bound := e.ownVolumes()[volume.Name]
	if source := bound.Spec.CSI; source.VolumeHandle != text || source.VolumeAttributes["odd"] != text || bound.Annotations["odd"] != text {
		e.Errorf("the volume has source %q and annotations %q", source, bound.Annotations)
	}
	for name, claim := range e.claimsByName() {
		if claim.Annotations["odd"] != text {
			e.Errorf("claim %s has annotations %q", name, claim.Annotations)
		}
	}
	e.checkVolumes()
}
