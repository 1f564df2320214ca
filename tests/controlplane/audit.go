// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
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

type auditEvent struct {
	Stage     string
	User      struct{ Username string }
	ObjectRef struct {
		Namespace, Name, UID string
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
	text, err := os.ReadFile(c.AuditLog())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return parseAuditLog(text)
}

func parseAuditLog(text []byte) ([]Binding, error) {
	var bindings []Binding
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
		bindings = append(bindings, b)
	}
	return bindings, nil
}
