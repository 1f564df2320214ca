// SPDX-License-Identifier: Apache-2.0

package main

import "math"

// boundPercent is what no order and no placement can exceed: how many percent of the devices the
// arrivals could fill if a node had no other resource, no model, and devices were all that there is.
//
// It is the dual of the linear program over all ways to fill one device. Whatever the price of a
// share is (what a pod of it is worth where it stays out), the bound holds:
//
//	sum over shares of pods * price + devices * the most that one device holds beyond the prices
//
// Prices are moved against their surplus, and the lowest bound is kept.
func boundPercent(nodes []traceNode, come []tracePod) float64 {
	var devices float64
	for _, n := range nodes {
		devices += float64(n.devices)
	}
	counts := map[int64]float64{}
	for _, p := range come {
		if p.devices > 0 {
			counts[p.milli] += float64(p.devices)
		}
	}
	var shares []int64
	var pods []float64
	for milli := int64(1); milli <= deviceMilli; milli++ {
		if counts[milli] > 0 {
			shares, pods = append(shares, milli), append(pods, counts[milli])
		}
	}
	if devices == 0 || len(shares) == 0 {
		return 0
	}
	prices := make([]float64, len(shares))
	best := math.Inf(1)
	const rounds = 4000
	for round := range rounds {
		most, held := fullest(shares, prices)
		bound, length := devices*most, 0.0
		surplus := make([]float64, len(shares))
		for i := range shares {
			bound += pods[i] * prices[i]
			surplus[i] = pods[i] - devices*held[i]
			length += surplus[i] * surplus[i]
		}
		best = min(best, bound)
		if length == 0 {
			break
		}
		step := 300 / math.Sqrt(length) / (1 + float64(round)/20)
		for i := range prices {
			prices[i] = max(0, prices[i]-step*surplus[i])
		}
	}
	return math.Min(100, 100*best/(devices*deviceMilli))
}

// fullest is the most that one device holds beyond the prices, and how many of each share.
func fullest(shares []int64, prices []float64) (most float64, held []float64) {
	const none = -1
	worth := make([]float64, deviceMilli+1)
	last := make([]int, deviceMilli+1)
	for room := int64(0); room <= deviceMilli; room++ {
		last[room] = none
		if room > 0 {
			worth[room] = worth[room-1]
		}
		for i, milli := range shares {
			gain := float64(milli) - prices[i]
			if milli <= room && gain > 0 && worth[room-milli]+gain > worth[room] {
				worth[room], last[room] = worth[room-milli]+gain, i
			}
		}
	}
	held = make([]float64, len(shares))
	for room := int64(deviceMilli); room > 0; {
		if last[room] == none {
			room--
			continue
		}
		held[last[room]]++
		room -= shares[last[room]]
	}
	return worth[deviceMilli], held
}
