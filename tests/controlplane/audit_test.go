// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

const (
	bound = `{"stage":"ResponseComplete","verb":"create","user":{"username":"berth"},` +
		`"objectRef":{"resource":"pods","namespace":"default","name":"web","subresource":"binding"},` +
		`"requestObject":{"metadata":{"name":"web","uid":"u1"},"target":{"kind":"Node","name":"n1"}},` +
		`"responseStatus":{"code":201}}`
	watched = `{"stage":"ResponseStarted","verb":"watch","requestURI":"/apis/apps/v1/replicasets?watch=1",` +
		`"user":{"username":"berth"},"objectRef":{"resource":"replicasets","apiGroup":"apps","apiVersion":"v1"},` +
		`"responseStatus":{"code":200}}`
	others = `{"stage":"ResponseComplete","verb":"create","user":{"username":"admin"},` +
		`"objectRef":{"resource":"pods","namespace":"default","name":"web"},"responseStatus":{"code":201}}`
)

func withAuditLog(t *testing.T, text string) *ControlPlane {
	c := &ControlPlane{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(c.Dir, "audit.log"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAuditBindingsSkipALineThatWasCutShort(t *testing.T) {
	c := withAuditLog(t, bound+"\n"+bound[:100]+"\n"+others+"\n"+watched+"\n"+bound+"\n"+bound[:50])
	bindings, err := c.AuditBindings()
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

func TestAuditRequestsAreThoseOfTheUser(t *testing.T) {
	c := withAuditLog(t, bound+"\n"+others+"\n"+watched+"\n")
	requests, err := c.AuditRequests("berth")
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{User: "berth", Verb: "create", Resource: "pods/binding", Namespace: "default", Name: "web", Code: 201},
		{User: "berth", Verb: "watch", Group: "apps", Resource: "replicasets", URI: "/apis/apps/v1/replicasets?watch=1", Code: 200},
	}
	if !reflect.DeepEqual(requests, want) {
		t.Errorf("got %+v, want %+v", requests, want)
	}
}
