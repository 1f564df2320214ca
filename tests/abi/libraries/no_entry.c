// SPDX-License-Identifier: Apache-2.0
// A library that is no plugin.
__attribute__((visibility("default"))) int berth_no_entry(void) { return 0; }
