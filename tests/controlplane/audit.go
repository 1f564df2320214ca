// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Binding is one request to bind a pod, as the API server saw it, whatever became of it.
type Binding struct {
	Namespace string
	Pod       string
	UID       string // of the pod that the scheduler meant; "" if it did not say
	Node      string
	User      string
	Code      int // of the answer: 201 is bound, 409 was bound before
	Message   string
	Received  time.Time
	Answered  time.Time
}

// Bound says whether this request bound the pod.
func (b Binding) Bound() bool { return b.Code >= 200 && b.Code < 300 }

// maybeBound says whether it may have bound the pod all the same: its client went away, or the server failed on the way.
func (b Binding) maybeBound() bool { return b.Code == 0 || b.Code >= http.StatusInternalServerError }

// Request is one request of a user in Options.AuditUsers.
type Request struct {
	User     string
	Verb     string // as RBAC has it, such as watch
	Group    string
	Resource string // with the subresource, such as pods/status; "" if it is about none
	// Namespace and Name are those of its path, "" where that has none.
	Namespace, Name string
	URI             string
	Code            int // of the answer
}

type auditEvent struct {
	Stage      string
	Verb       string
	RequestURI string
	User       struct{ Username string }
	ObjectRef  struct {
		APIGroup, Resource, Subresource string
		Namespace, Name, UID            string
	}
	RequestObject struct {
		Metadata struct{ Name, Namespace, UID string }
		Target   struct{ Name string }
	}
	ResponseStatus struct {
		Code    int
		Message string
	}
	RequestReceivedTimestamp time.Time
	StageTimestamp           time.Time
}

// AuditBindings reads the audit log: every attempt to bind, in the order of the answers. The API
// server writes a line just after it has answered, so one that has just been answered may be missing
// for some milliseconds, and one that was under way when the API server was killed for ever.
func (c *ControlPlane) AuditBindings() ([]Binding, error) {
	events, err := c.readAuditLog()
	if err != nil {
		return nil, err
	}
	var bindings []Binding
	for _, e := range events {
		if e.isBinding() {
			bindings = append(bindings, e.binding())
		}
	}
	return bindings, nil
}

// AuditRequests reads the audit log: what the users in Options.AuditUsers have asked for. A watch is
// there as soon as it has begun, and once more when it has ended.
func (c *ControlPlane) AuditRequests(user string) ([]Request, error) {
	events, err := c.readAuditLog()
	if err != nil {
		return nil, err
	}
	var requests []Request
	for _, e := range events {
		if e.User.Username == user {
			requests = append(requests, e.request())
		}
	}
	return requests, nil
}

func (c *ControlPlane) readAuditLog() ([]auditEvent, error) {
	text, err := os.ReadFile(c.AuditLog())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return parseAuditLog(text)
}

func parseAuditLog(text []byte) ([]auditEvent, error) {
	var events []auditEvent
	for number, line := range bytes.Split(text, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var e auditEvent
		if err := json.Unmarshal(line, &e); err != nil {
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				continue // cut short by the end of an API server
			}
			return nil, fmt.Errorf("read line %d of the audit log: %w", number+1, err)
		}
		events = append(events, e)
	}
	return events, nil
}

func (e auditEvent) isBinding() bool {
	return e.Verb == "create" && (e.ObjectRef.Subresource == "binding" || e.ObjectRef.Resource == "bindings")
}

func (e auditEvent) binding() Binding {
	b := Binding{
		Namespace: e.ObjectRef.Namespace,
		Pod:       e.ObjectRef.Name,
		UID:       e.RequestObject.Metadata.UID,
		Node:      e.RequestObject.Target.Name,
		User:      e.User.Username,
		Code:      e.ResponseStatus.Code,
		Message:   e.ResponseStatus.Message,
		Received:  e.RequestReceivedTimestamp,
		Answered:  e.StageTimestamp,
	}
	if b.Pod == "" {
		b.Pod = e.RequestObject.Metadata.Name
	}
	return b
}

func (e auditEvent) request() Request {
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return Request{
		User: e.User.Username, Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: resource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name, URI: e.RequestURI, Code: e.ResponseStatus.Code,
	}
}

// BoundTwice tells of a pod that was bound more than once; "" if there is none.
func BoundTwice(bindings []Binding) string {
	nodes := map[string]string{}
	for _, b := range bindings {
		if !b.Bound() {
			continue
		}
		if before, again := nodes[b.UID]; again {
			return fmt.Sprintf("pod %s was bound to %s and to %s", b.Pod, before, b.Node)
		}
		nodes[b.UID] = b.Node
	}
	return ""
}

// Misplaced tells of a pod that is not where it was bound, or may have been; "" if there is none.
func Misplaced(bindings []Binding, pods []corev1.Pod) string {
	nodes, perhaps := map[string]string{}, map[string]bool{}
	for _, b := range bindings {
		if b.Bound() {
			nodes[b.UID] = b.Node
		}
		if b.maybeBound() {
			perhaps[b.UID+"/"+b.Node] = true
		}
	}
	for i := range pods {
		pod := &pods[i]
		node, bound := nodes[string(pod.UID)]
		if node != pod.Spec.NodeName && (bound || !perhaps[string(pod.UID)+"/"+pod.Spec.NodeName]) {
			return fmt.Sprintf("pod %s is on node %q and was bound to %q", pod.Name, pod.Spec.NodeName, node)
		}
	}
	return ""
}
