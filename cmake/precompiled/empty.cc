// SPDX-License-Identifier: Apache-2.0
// The one source of the targets that precompile headers for others.
