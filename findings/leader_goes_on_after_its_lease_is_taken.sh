#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What we tried: client-go's leader election, as kube-scheduler and most controllers use it, where another holder's name is
# written into the Lease of one that leads (by hand, by a restore, by a process with another clock).
# Our guess: the leader sees it with its next renewal and stops leading at once.
# What happens (k8s.io/client-go v0.37.1): IsLeader() is false with the next renewal, but nothing else happens: OnNewLeader is
# not called, the context of OnStartedLeading does not end and OnStoppedLeading is not called until RenewDeadline has passed
# (10 s by default), since a Lease that another holds counts as one more failed try. For that long there are two that work.
# Whoever must not do that looks at IsLeader() before each write.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export GOFLAGS=-mod=mod
go mod init finding 2>/dev/null
go get k8s.io/api@v0.37.1 k8s.io/apimachinery@v0.37.1 k8s.io/client-go@v0.37.1 2>/dev/null

cat >main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is a Lease in memory: an update of an older version than the newest is a conflict, as with the API server.
type lock struct {
	mu            sync.Mutex
	record        *resourcelock.LeaderElectionRecord
	version, seen int
}

func (l *lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = l.version
	copied := *l.record
	raw, err := json.Marshal(copied)
	return &copied, raw, err
}

func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

func (l *lock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen != l.version {
		return errors.New("conflict")
	}
	l.record = &record
	l.version++
	l.seen = l.version
	return nil
}

// renewBy writes the other's name, as that one does with each renewal of its own.
func (l *lock) renewBy(holder string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := metav1.Now()
	l.record = &resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 6, AcquireTime: now, RenewTime: now}
	l.version++
}

func (l *lock) RecordEvent(string) {}
func (l *lock) Identity() string   { return "a" }
func (l *lock) Describe() string   { return "the lease" }

// reported takes what was reported so far.
func reported(leaders chan string) (all []string) {
	for {
		select {
		case leader := <-leaders:
			all = append(all, leader)
		default:
			return all
		}
	}
}

func main() {
	l := &lock{record: &resourcelock.LeaderElectionRecord{}}
	leads, newLeader, workEnds := make(chan bool, 1), make(chan string, 9), make(chan bool, 1)
	const renewDeadline = 4 * time.Second
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l, LeaseDuration: 6 * time.Second, RenewDeadline: renewDeadline, RetryPeriod: 500 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				leads <- true
				<-ctx.Done()
				workEnds <- true
			},
			OnStoppedLeading: func() {},
			OnNewLeader:      func(identity string) { newLeader <- identity },
		},
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	go elector.Run(ctx)
	<-leads
	taken := time.Now()
	l.renewBy("b")
	for elector.IsLeader() {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("within half of the deadline it is no leader: %t\n", time.Since(taken) < renewDeadline/2)
	for time.Since(taken) < renewDeadline/2 {
		time.Sleep(500 * time.Millisecond)
		l.renewBy("b")
	}
	fmt.Printf("after half of the deadline its work has ended: %t, and it has reported the leaders %v\n",
		len(workEnds) > 0, reported(newLeader))
	<-workEnds
	fmt.Printf("by the end it has: %t\n", time.Since(taken) < 2*renewDeadline)
}
GO

diff - <(go run . 2>log) <<'SEEN'
within half of the deadline it is no leader: true
after half of the deadline its work has ended: false, and it has reported the leaders [a]
by the end it has: true
SEEN
echo "as seen: with k8s.io/client-go v0.37.1 a leader whose Lease another holds works on until RenewDeadline"
