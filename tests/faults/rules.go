// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// Scope says which requests a rule is about. An empty member means any, but leases have to be named: who cannot renew
// its lease ends.
type Scope struct {
	Verb      string // as RBAC has it: get, list, watch, create, update, patch, delete
	Resource  string // with its subresource, such as pods/binding
	Namespace string
}

const leases = "leases"

func (s Scope) covers(info *request.RequestInfo) bool {
	if !info.IsResourceRequest {
		return false
	}
	resource := resourceOf(info)
	switch {
	case s.Resource == "" && resource == leases, s.Resource != "" && s.Resource != resource:
		return false
	case s.Verb != "" && s.Verb != info.Verb:
		return false
	default:
		return s.Namespace == "" || s.Namespace == info.Namespace
	}
}

func resourceOf(info *request.RequestInfo) string {
	if info.Subresource == "" {
		return info.Resource
	}
	return info.Resource + "/" + info.Subresource
}

func (s Scope) String() string {
	words := []string{s.Verb, s.Resource}
	if s.Namespace != "" {
		words = append(words, "in", s.Namespace)
	}
	if text := strings.Join(strings.Fields(strings.Join(words, " ")), " "); text != "" {
		return text
	}
	return "all"
}

// Kind is what happens to a request or to its answer.
type Kind string

const (
	None   Kind = ""
	Answer Kind = "answer" // with a code, in the API server's stead
	Delay  Kind = "delay"
	Reset  Kind = "reset" // of the stream: RST_STREAM; with HTTP/1.1 the connection is closed
	Cut    Kind = "cut"   // of the connection
	Goaway Kind = "goaway"
	Split  Kind = "split" // the body comes in crumbs

	Truncate Kind = "truncate" // the body ends within, and with it the stream; that of a watch perhaps in an orderly way

	// Of watches alone.
	Stall       Kind = "stall"        // nothing more comes
	End         Kind = "end"          // in an orderly way
	Expire      Kind = "expire"       // 410 as an event
	NoBookmarks Kind = "no bookmarks" // but the one that ends an initial list
	Brief       Kind = "brief"        // the server ends the watch after a second
)

// Fault is what happens, with what it needs to.
type Fault struct {
	Kind       Kind
	Code       int
	Reason     string
	RetryAfter int           // in seconds; 0: none
	Delay      time.Duration // at most
	// Late: the API server has done what was asked for when the fault comes.
	Late bool
}

func (f Fault) String() string {
	text := string(f.Kind)
	if f.Code != 0 {
		text += fmt.Sprintf(" %d", f.Code)
	}
	if f.RetryAfter != 0 {
		text += fmt.Sprintf(" after %ds", f.RetryAfter)
	}
	if f.Delay != 0 {
		text += fmt.Sprintf(" %s", f.Delay)
	}
	if f.Late {
		text += ", when done"
	}
	return text
}

// Rule is a fault for a share of the requests of a scope.
type Rule struct {
	Scope
	Fault
	Share float64
}

func (r Rule) String() string {
	return fmt.Sprintf("%s for %s (%.0f%%)", r.Fault, r.Scope, r.Share*100)
}

// rules are those in force. Its methods may be called from any goroutine.
type rules struct {
	mu      sync.Mutex
	random  *rand.Rand
	all     []*Rule
	version uint64
	changed chan struct{} // closed, and replaced, at each change
	hits    map[Kind]int
}

func newRules(seed uint64) *rules {
	return &rules{random: rand.New(rand.NewPCG(seed, 17)), changed: make(chan struct{}), hits: map[Kind]int{}}
}

// add puts a rule in force until `lift` is called.
func (r *rules) add(rule Rule) (lift func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	added := &rule
	r.all = append(r.all, added)
	r.changeLocked()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, one := range r.all {
			if one == added {
				r.all = append(r.all[:i:i], r.all[i+1:]...)
				r.changeLocked()
				return
			}
		}
	}
}

func (r *rules) changeLocked() {
	r.version++
	close(r.changed)
	r.changed = make(chan struct{})
}

// draw is the fault for a request: of the newest rule that covers it and wants it.
func (r *rules) draw(info *request.RequestInfo) Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.all) - 1; i >= 0; i-- {
		rule := r.all[i]
		if rule.covers(info) && r.random.Float64() < rule.Share {
			r.hits[rule.Kind]++
			fault := rule.Fault
			if fault.Delay > 0 {
				fault.Delay = time.Duration(r.random.Int64N(int64(fault.Delay)) + 1)
			}
			return fault
		}
	}
	return Fault{}
}

// state is the version of the rules and what is closed when they change.
func (r *rules) state() (version uint64, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version, r.changed
}

// below is a random number from 0 to n-1.
func (r *rules) below(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random.IntN(n)
}

// Hit is how many requests met a fault of each kind.
func (r *rules) Hit() map[Kind]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	hits := map[Kind]int{}
	for kind, n := range r.hits {
		hits[kind] = n
	}
	return hits
}
