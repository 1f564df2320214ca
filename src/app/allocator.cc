// SPDX-License-Identifier: Apache-2.0

// What jemalloc reads when the process starts; MALLOC_CONF adds to it. What a crowd of pods leaves
// behind, the next crowd needs: it goes back to the system after a minute, not at once.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "dirty_decay_ms:60000";
}
