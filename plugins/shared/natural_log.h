// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::plugins {

// ln(x), bit for bit as Go's math.Log on amd64; the C library's may differ in the last bit, and a
// rounded score with it. `x` is finite and above 0.
//
// The algorithm is FreeBSD's e_log.c: x = 2^k (1+f) with sqrt(2)/2 <= 1+f < sqrt(2), and a
// polynomial in s = f/(2+f).
double NaturalLog(double x);

}  // namespace berth::plugins
