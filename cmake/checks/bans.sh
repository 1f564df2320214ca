#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Words that only their owner may write (real time, threads, locks, exceptions, the environment), and
# words that no text may have.
# `ban` is for the daemon's sources, `ban_everywhere` for the tests, too; each takes a pattern, the
# paths that may, and why. Prints each breach; exit 1 when there is one.
set -uo pipefail
root=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root" || exit 2
failed=0
ban_in() {
  local hits folders=$4
  # shellcheck disable=SC2086
  hits=$(grep -rnE --include='*.h' --include='*.hpp' --include='*.c' --include='*.cc' -- "$1" $folders |
    grep -vE '^[^:]+:[0-9]+:[[:space:]]*//' | grep -vE "^($2)")
  if [ -n "$hits" ]; then
    printf '%s\n  (%s)\n' "$hits" "$3"
    failed=1
  fi
}
ban() { ban_in "$1" "$2" "$3" 'src include plugins'; }
ban_everywhere() { ban_in "$1" "$2" "$3" 'src include plugins tests'; }
ban_everywhere 'steady_clock::now|system_clock::now|clock_gettime' 'src/base/|tests/unit/base/|tests/faults/preload/' \
  'time comes from berth::Clock'
ban 'std::(jthread|thread)\b([^:]|$)' 'src/base/' 'threads are started by src/base'
ban_everywhere '\b(rand|srand|random_device)\b *\(' '$^' 'what is random has a seed'
ban 'std::mt19937' '$^' 'randomness comes from berth::Random'
ban_everywhere '\b(sleep|usleep|nanosleep) *\(|sleep_(for|until)' '$^' \
  'a wait is for something that happens, not for time'
ban 'std::([a-z_]*mutex|condition_variable|lock_guard|(unique|shared|scoped)_lock)' 'src/base/' \
  'locks live in src/base'
ban '\bthrow\b' 'plugins/examples/|include/berth/.*\.hpp' 'errors are Result or Status'
ban '\bcatch\b *\(' 'src/api/|src/documents/|src/framework/|src/app/|src/config/|src/extender/|plugins/examples/|include/berth/.*\.hpp' \
  'an exception ends in the room that owns its library'
ban '\bgetenv\b' 'src/base/|src/client/|src/app/' 'the environment is read by client and app'
ban_everywhere 'std::regex' '$^' 'std::regex is slow and throws'
# Words with a plainer one: a second-language reader stops at them.
hits=$(grep -rnEiw --exclude='*.json' --exclude='*.svg' -- \
  'told|hears?|heard|comes? to|anew|somebody|whoever' \
  src include plugins docs config dev README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md 2>/dev/null)
if [ -n "$hits" ]; then
  printf '%s\n  (say what is reported, called, joined or done again)\n' "$hits"
  failed=1
fi
exit $failed
