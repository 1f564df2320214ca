// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"time"
)

// Percentile is the value of sorted that p percent of them do not exceed.
func Percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

// Median is that of what value makes of each; 0 of none.
func Median[T any](all []T, value func(T) float64) float64 {
	if len(all) == 0 {
		return 0
	}
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = value(one)
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
