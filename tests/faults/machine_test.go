// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// apiName is the API server's for a daemon whose machine can misbehave.
const apiName = "api.faults.test"

// host is what a daemon takes for its machine: preload/machine.c goes between it and the C library. Its methods may
// be called from any goroutine.
type host struct {
	library string
	file    *os.File
}

// The fields of the file, as preload/machine.c has them.
const (
	clockOffset = iota
	diskFull
	namesHang
	writesRefused
	lookupsHeld
	machineFields
)

// preloaded is the library, which the C compiler that made Berth makes.
var preloaded = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "berth-preload-")
	if err != nil {
		return "", err
	}
	library := filepath.Join(folder, "machine.so")
	output, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", library, filepath.Join("preload", "machine.c"), "-ldl").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cc: %w: %s", err, output)
	}
	return library, nil
})

func newHost(dir string) (*host, error) {
	library, err := preloaded()
	if err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, "machine"))
	if err != nil {
		return nil, err
	}
	return &host{library, file}, file.Truncate(machineFields * 8)
}

// env has a process run on it.
func (m *host) env() []string {
	return []string{"LD_PRELOAD=" + m.library, "BERTH_FAULT_MACHINE=" + m.file.Name(),
		// Of a build with AddressSanitizer, whose own library wants to be the first.
		"ASAN_OPTIONS=verify_asan_link_order=0:" + os.Getenv("ASAN_OPTIONS")}
}

// set changes a field; processes see it at once.
func (m *host) set(field int, value int64) {
	bytes := binary.LittleEndian.AppendUint64(nil, uint64(value))
	if _, err := m.file.WriteAt(bytes, int64(field)*8); err != nil {
		panic(err) // it was opened for writing
	}
}

func (m *host) get(field int) int64 {
	bytes := make([]byte, 8)
	if _, err := m.file.ReadAt(bytes, int64(field)*8); err != nil {
		panic(err)
	}
	return int64(binary.LittleEndian.Uint64(bytes))
}

// addMachine adds trouble of the machine that the daemons run on.
func (s *schedule) addMachine(random *rand.Rand, add adder) {
	s.preloads = true
	switch random.IntN(3) {
	case 0:
		s.fills = true
		add("the disk is full", func(r *run) func() {
			r.machine.set(diskFull, 1)
			return func() { r.machine.set(diskFull, 0) }
		})
	case 1:
		const farthest = 50 * time.Minute // certificates are an hour old
		jump := time.Duration(random.Int64N(int64(2*farthest))) - farthest
		back := random.IntN(2) == 0
		add(fmt.Sprintf("the wall clock jumps by %s (and back: %v)", jump.Round(time.Millisecond), back), func(r *run) func() {
			r.machine.set(clockOffset, int64(jump))
			if !back {
				return nil
			}
			return func() { r.machine.set(clockOffset, 0) }
		})
	case 2:
		// What it has looked up before, it need not look up again.
		which := random.IntN(s.replicas)
		add(fmt.Sprintf("names are not resolved, and daemon %d is killed", which), func(r *run) func() {
			r.machine.set(namesHang, 1)
			r.keepers[which].kill()
			return func() { r.machine.set(namesHang, 0) }
		})
	}
}
