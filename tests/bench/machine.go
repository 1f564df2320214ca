// SPDX-License-Identifier: Apache-2.0

package main

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

// peakMemory is the greatest resident set of a process so far, in bytes; 0 if unknown.
func peakMemory(pid int) int64 {
	return kilobytes(procValue(fmt.Sprintf("/proc/%d/status", pid), "VmHWM"))
}

// residentMemory is the resident set of a process now, in bytes; 0 if unknown.
func residentMemory(pid int) int64 {
	return kilobytes(procValue(fmt.Sprintf("/proc/%d/status", pid), "VmRSS"))
}

// machine describes the computer in one line.
func machine() string {
	model := procValue("/proc/cpuinfo", "model name")
	if model == "" {
		model = runtime.GOARCH
	}
	memory := kilobytes(procValue("/proc/meminfo", "MemTotal"))
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%d CPUs (%s), %.0f GiB, Linux %s", runtime.NumCPU(), model,
		float64(memory)/(1<<30), strings.TrimSpace(string(kernel)))
}

// load is how many processes wanted a CPU over the last minute.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
