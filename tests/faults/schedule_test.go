// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// length is how long pods come and troubles begin.
const length = 6 * time.Second

// margin is how long a request may be on its way: less than what lies between the end of a leader's patience and that
// of its lease, or a request could come when another leads.
const margin = 1500 * time.Millisecond

// election has times for schedules with leader election; margin is less than the first is longer than the second.
const election = "leaseDuration: 8s, renewDeadline: 6s, retryPeriod: 500ms"

// step is one trouble: begun, and ended after a while.
type step struct {
	at, lasts time.Duration
	text      string
	do        func(r *run) (end func()) // end may be nil
}

// schedule is drawn from a seed.
type schedule struct {
	seed     uint64
	http1    bool // between daemon and proxy
	json     bool // instead of protobuf
	certs    bool // instead of tokens
	elects   bool
	replicas int
	burst    int // of the daemon's client; 0: 500
	extender bool
	restores bool
	bumps    bool // versions, in a restore
	crashes  bool // a server is killed: the audit log may lack lines
	preloads bool // the daemons' machine misbehaves
	fills    bool // their disk: logs and recordings may lack what was last
	steps    []step
}

func (s schedule) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d:", s.seed)
	for _, mode := range []struct {
		on   bool
		name string
	}{{s.http1, "HTTP/1.1"}, {s.json, "JSON"}, {s.certs, "client certificates"}, {s.elects, "leader election"}, {s.extender, "extender"}} {
		if mode.on {
			text.WriteString(" " + mode.name + ",")
		}
	}
	if s.replicas > 1 {
		fmt.Fprintf(&text, " %d replicas", s.replicas)
	}
	for _, step := range s.steps {
		fmt.Fprintf(&text, "\n  %s for %s: %s", step.at.Round(time.Millisecond), step.lasts.Round(time.Millisecond), step.text)
	}
	return text.String()
}

func draw(seed uint64) schedule {
	random := rand.New(rand.NewPCG(seed, 1))
	chance := func(share float64) bool { return random.Float64() < share }
	s := schedule{
		seed: seed, http1: chance(0.2), json: chance(0.25), certs: chance(0.3), elects: chance(0.4), extender: chance(0.25)}
	s.replicas = 1
	if s.elects {
		s.replicas += random.IntN(2)
	}
	add := func(text string, do func(*run) func()) {
		at := time.Duration(random.Int64N(int64(length)))
		s.steps = append(s.steps, step{at: at, lasts: 300*time.Millisecond + time.Duration(random.Int64N(int64(2500*time.Millisecond))), text: text, do: do})
	}
	for range 2 + random.IntN(4) {
		s.addRule(random, add)
	}
	for range random.IntN(3) {
		s.addWire(random, add)
	}
	if chance(0.3) {
		s.addServers(random, add)
	}
	if chance(0.3) {
		s.addIdentity(random, add)
	}
	if chance(0.3) {
		s.addDaemon(random, add)
	}
	if s.extender {
		add("the extender hangs", func(r *run) func() { return r.extender.hang() })
	}
	if chance(0.3) {
		s.addMachine(random, add)
	}
	return s
}

func pick[T any](random *rand.Rand, all ...T) T { return all[random.IntN(len(all))] }

type adder = func(text string, do func(*run) func())

// addRule adds faults of requests and their answers.
func (s *schedule) addRule(random *rand.Rand, add adder) {
	namespace := pick(random, "", "", "a", "b")
	scope := pick(random,
		Scope{"create", "pods/binding", namespace}, Scope{"create", "pods/binding", namespace}, Scope{"get", "pods", namespace},
		Scope{"patch", "pods/status", namespace}, Scope{"create", "events", namespace}, Scope{"update", "resourceclaims/status", ""},
		Scope{Resource: "persistentvolumeclaims"}, Scope{Resource: "persistentvolumes"}, Scope{Resource: "resourceclaims"},
		Scope{Verb: "watch", Resource: "pods"}, Scope{Verb: "watch", Resource: "nodes"}, Scope{Verb: "watch"}, Scope{Verb: "list"}, Scope{})
	delay := time.Duration(random.Int64N(int64(margin))) + 1
	fault := pick(random,
		Fault{Kind: Answer, Code: http.StatusInternalServerError, Reason: "InternalError", Late: random.IntN(2) == 0},
		Fault{Kind: Answer, Code: http.StatusServiceUnavailable, Reason: "ServiceUnavailable", Late: random.IntN(3) == 0},
		Fault{Kind: Answer, Code: http.StatusGatewayTimeout, Reason: "Timeout", Late: random.IntN(2) == 0},
		Fault{Kind: Answer, Code: http.StatusTooManyRequests, Reason: "TooManyRequests", RetryAfter: 1},
		Fault{Kind: Answer, Code: http.StatusConflict, Reason: "Conflict"},
		Fault{Kind: Answer, Code: http.StatusGone, Reason: "Expired"},
		Fault{Kind: Delay, Delay: delay}, Fault{Kind: Delay, Delay: delay, Late: true},
		Fault{Kind: Reset}, Fault{Kind: Reset, Late: true}, Fault{Kind: Cut}, Fault{Kind: Cut, Late: true},
		Fault{Kind: Goaway}, Fault{Kind: Truncate}, Fault{Kind: Split})
	if scope.Verb == "watch" && random.IntN(2) == 0 {
		fault = Fault{Kind: pick(random, Stall, End, Expire, NoBookmarks, Brief, Truncate, Split)}
	}
	if s.elects && random.IntN(8) == 0 {
		scope = Scope{Resource: leases}
	}
	rule := Rule{scope, fault, pick(random, 0.2, 0.5, 1)}
	add(rule.String(), func(r *run) func() {
		here := rule
		if here.Namespace != "" {
			here.Namespace = r.namespaces[strings.Index("ab", here.Namespace)]
		}
		return r.proxy.add(here)
	})
}

// addWire adds faults of connections.
func (s *schedule) addWire(random *rand.Rand, add adder) {
	hard := random.IntN(2) == 0
	switch random.IntN(5) {
	case 0, 1:
		add(fmt.Sprintf("all connections are cut (reset: %v)", hard), func(r *run) func() {
			r.proxy.cut(hard)
			return nil
		})
	case 2:
		add("the peer is half open", func(r *run) func() {
			r.proxy.silence()
			return r.proxy.speak
		})
	case 3:
		add("connections are refused", func(r *run) func() {
			r.proxy.refusing.Store(true)
			r.proxy.cut(hard)
			return func() { r.proxy.refusing.Store(false) }
		})
	case 4:
		add("connections are slow", func(r *run) func() {
			r.proxy.slow.Store(true)
			return func() { r.proxy.slow.Store(false) }
		})
	}
}

// addServers adds a restart of the API server or etcd, or a restore.
func (s *schedule) addServers(random *rand.Rand, add adder) {
	crash := random.IntN(2) == 0
	switch random.IntN(5) {
	case 0, 1:
		s.crashes = crash
		add(fmt.Sprintf("the API server is restarted (crash: %v)", crash), func(r *run) func() {
			r.restartAPIServer(crash)
			return nil
		})
	case 2, 3:
		s.crashes = crash
		add(fmt.Sprintf("etcd is restarted (crash: %v)", crash), func(r *run) func() {
			r.restartEtcd(crash)
			return nil
		})
	case 4:
		s.restores, s.crashes, s.bumps = true, true, crash
		add(fmt.Sprintf("etcd is saved, and restored (bump: %v)", s.bumps), func(r *run) func() {
			r.saveEtcd()
			return r.restoreEtcd
		})
	}
}

// addIdentity adds credentials and certificates that end.
func (s *schedule) addIdentity(random *rand.Rand, add adder) {
	switch random.IntN(3) {
	case 0:
		add("the daemon's credentials have expired before new ones are there", func(r *run) func() {
			renew := r.expire()
			return renew
		})
	case 1:
		add("the daemon's credentials are rotated in time", func(r *run) func() {
			r.rotate()
			return nil
		})
	case 2:
		add("the server's certificate has expired", func(r *run) func() {
			r.showCertificate("expired")
			r.proxy.cut(true)
			return func() { r.showCertificate("renewed") }
		})
	}
}

// addDaemon adds what happens to the process itself.
func (s *schedule) addDaemon(random *rand.Rand, add adder) {
	which := random.IntN(s.replicas)
	if random.IntN(2) == 0 {
		for range 1 + random.IntN(3) {
			add(fmt.Sprintf("daemon %d is killed", which), func(r *run) func() {
				r.keepers[which].kill()
				return nil
			})
		}
		return
	}
	pause := time.Duration(random.Int64N(int64(margin)))
	add(fmt.Sprintf("daemon %d is paused for %s", which, pause.Round(time.Millisecond)), func(r *run) func() {
		r.keepers[which].pause(pause)
		return nil
	})
}
