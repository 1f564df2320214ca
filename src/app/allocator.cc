// SPDX-License-Identifier: Apache-2.0
#include <jemalloc/jemalloc.h>

// What jemalloc reads when the process starts; MALLOC_CONF adds to it. What a crowd of pods leaves
// behind, the next crowd needs: it goes back to the system after a minute, not at once. And a
// thread hands back what it has freed and not used again after a MiB of allocations, not after 64
// KiB, which is what two pods take, and keeps up to 1,024 pieces of a size, not 200: it would go on
// fetching the same memory again.
const char* malloc_conf =
    "dirty_decay_ms:60000,tcache_gc_incr_bytes:1048576,"
    "tcache_nslots_small_max:1024,lg_tcache_nslots_mul:4";
