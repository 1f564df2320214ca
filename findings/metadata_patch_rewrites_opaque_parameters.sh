#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What we tried: a strategic merge patch that only adds a finalizer to a ResourceClaim, as a scheduler does before it allocates.
# Our guess: such a patch leaves the rest of the object as it was.
# What happens (k8s.io/apimachinery v0.37.1, the code that kube-apiserver applies such a patch with): the patch takes the whole
# object apart and puts it together again, opaque driver parameters too. They keep their meaning but not their bytes: keys are
# sorted, spaces go, 1.0 becomes 1. A ResourceClaim's spec is compared byte for byte, so the server answers that the spec is
# immutable, to a patch that does not name it. Only parameters that were written with sorted keys and no spaces can be patched;
# those of a Go struct that begins with TypeMeta have kind before apiVersion, and cannot.
# What to do instead: update the whole object, with the bytes that came.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export GOFLAGS=-mod=mod
go mod init finding 2>/dev/null
go get k8s.io/api@v0.37.1 k8s.io/apimachinery@v0.37.1 2>/dev/null

cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

func main() {
	for _, parameters := range []string{
		`{"apiVersion":"gpu.example.com/v1","kind":"GpuConfig"}`,
		`{"kind":"GpuConfig","apiVersion":"gpu.example.com/v1"}`,
		`{"share": 0.5}`,
		`{"share":1.0}`,
	} {
		stored := `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"gpu"},"spec":{"devices":{"config":[` +
			`{"opaque":{"driver":"gpu.example.com","parameters":` + parameters + `}}]}}}`
		// The stored text stands for what the server encodes of its object: its encoder passes opaque parameters on as they are.
		patched, err := strategicpatch.StrategicMergePatch([]byte(stored), []byte(`{"metadata":{"finalizers":["example.com/f"]}}`),
			resourcev1.ResourceClaim{})
		if err != nil {
			panic(err)
		}
		var before, after resourcev1.ResourceClaim
		for text, claim := range map[string]*resourcev1.ResourceClaim{stored: &before, string(patched): &after} {
			if err := json.Unmarshal([]byte(text), claim); err != nil {
				panic(err)
			}
		}
		fmt.Printf("%s -> %s, same spec: %t\n", parameters, after.Spec.Devices.Config[0].Opaque.Parameters.Raw,
			equality.Semantic.DeepEqual(before.Spec, after.Spec))
	}
}
GO

diff - <(go run .) <<'SEEN'
{"apiVersion":"gpu.example.com/v1","kind":"GpuConfig"} -> {"apiVersion":"gpu.example.com/v1","kind":"GpuConfig"}, same spec: true
{"kind":"GpuConfig","apiVersion":"gpu.example.com/v1"} -> {"apiVersion":"gpu.example.com/v1","kind":"GpuConfig"}, same spec: false
{"share": 0.5} -> {"share":0.5}, same spec: false
{"share":1.0} -> {"share":1}, same spec: false
SEEN
echo "as seen: k8s.io/apimachinery v0.37.1 rewrites opaque parameters when only metadata is patched"
