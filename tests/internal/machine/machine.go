// SPDX-License-Identifier: Apache-2.0

// Package machine reads from /proc what measurements need to know of the computer and of a process.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// procValue is what follows the key in a file of lines "key: value".
func procValue(file, key string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// kilobytes reads values such as "123 kB" into bytes.
func kilobytes(value string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64)
	return n * 1024
}

// PeakMemory is the greatest resident set of a process so far, in bytes; 0 if unknown.
func PeakMemory(pid int) int64 { return kilobytes(status(pid, "VmHWM")) }

// ResidentMemory is the resident set of a process now, in bytes; 0 if unknown.
func ResidentMemory(pid int) int64 { return kilobytes(status(pid, "VmRSS")) }

// Threads is how many threads a process has; 0 if unknown.
func Threads(pid int) int {
	n, _ := strconv.Atoi(status(pid, "Threads"))
	return n
}

// Descriptors is how many files and sockets a process has open; 0 if unknown.
func Descriptors(pid int) int {
	open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(open)
}

func status(pid int, key string) string { return procValue(fmt.Sprintf("/proc/%d/status", pid), key) }

// Describe is the computer in one line.
func Describe() string {
	model := procValue("/proc/cpuinfo", "model name")
	if model == "" {
		model = runtime.GOARCH
	}
	memory := kilobytes(procValue("/proc/meminfo", "MemTotal"))
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%d CPUs (%s), %.0f GiB, Linux %s", runtime.NumCPU(), model,
		float64(memory)/(1<<30), strings.TrimSpace(string(kernel)))
}

// Load is how many processes wanted a CPU over the last minute.
func Load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
