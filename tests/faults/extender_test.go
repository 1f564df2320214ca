// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// extender lets every node pass, and can hang.
type extender struct {
	*httptest.Server

	mu   sync.Mutex
	hung chan struct{} // closed when it hangs no more; nil: it does not
}

func newExtender() *extender {
	x := &extender{}
	x.Server = httptest.NewServer(http.HandlerFunc(x.filter))
	return x
}

func (x *extender) filter(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	x.mu.Lock()
	hung := x.hung
	x.mu.Unlock()
	if hung != nil {
		select {
		case <-hung:
		case <-r.Context().Done():
			return
		}
	}
	_ = json.NewEncoder(w).Encode(extenderv1.ExtenderFilterResult{NodeNames: args.NodeNames})
}

// hang answers nothing until what is returned is called.
func (x *extender) hang() (end func()) {
	hung := make(chan struct{})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hung = hung
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.hung = nil
		close(hung)
	}
}
