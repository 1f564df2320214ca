// SPDX-License-Identifier: Apache-2.0

// Package faults puts a proxy between Berth and a real API server, makes trouble there and in the control plane by
// schedules that are drawn from seeds, and then asks the API server and its audit log whether anything was lost, bound
// twice or put where there was no room.
//
// BERTH_FAULT_SEED is the seed of the first schedule; without it the clock gives one, which the test prints.
// BERTH_FAULT_RUNS says how many schedules are run, of seeds that follow each other.
// BERTH_FAULT_FIND leaves out schedules whose text (as the test prints it) lacks it, such as "is killed".
package faults
