// SPDX-License-Identifier: Apache-2.0

package controlplane

import "testing"

func TestAuditBindingsSkipALineThatWasCutShort(t *testing.T) {
	const bound = `{"stage":"ResponseComplete","user":{"username":"berth"},` +
		`"objectRef":{"resource":"pods","namespace":"default","name":"web","subresource":"binding"},` +
		`"requestObject":{"metadata":{"name":"web","uid":"u1"},"target":{"kind":"Node","name":"n1"}},` +
		`"responseStatus":{"code":201}}`
	bindings, err := parseAuditLog([]byte(bound + "\n" + bound[:100] + "\n" + bound + "\n" + bound[:50]))
	if err != nil {
		t.Fatal(err)
	}
	if len(bindings) != 2 {
		t.Fatalf("got %d bindings, want the 2 whole ones", len(bindings))
	}
	want := Binding{Namespace: "default", Pod: "web", UID: "u1", Node: "n1", User: "berth", Code: 201}
	if bindings[0] != want || !want.Bound() {
		t.Errorf("got %+v, want %+v", bindings[0], want)
	}
}
