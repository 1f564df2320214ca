#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Words that only their owner may write: real time, threads, locks, exceptions, the environment.
# A line "pattern|paths that may|why". Prints each breach; exit 1 when there is one.
set -uo pipefail
root=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root" || exit 2
failed=0
ban() {
  local hits
  hits=$(grep -rnE --include='*.h' --include='*.cc' -- "$1" src include plugins |
    grep -vE '^[^:]+:[0-9]+:[[:space:]]*//' | grep -vE "^($2)")
  if [ -n "$hits" ]; then
    printf '%s\n  (%s)\n' "$hits" "$3"
    failed=1
  fi
}
ban 'steady_clock::now|system_clock::now|clock_gettime' 'src/base/' \
  'time comes from berth::Clock'
ban 'std::(jthread|thread)\b([^:]|$)' 'src/base/' 'threads are started by src/base'
ban '\b(rand|srand|random_device)\b *\(|std::mt19937' 'src/base/' 'randomness comes from berth::Random'
ban 'std::([a-z_]*mutex|condition_variable|lock_guard|(unique|shared|scoped)_lock)' 'src/base/' \
  'locks live in src/base'
ban '\bthrow\b' 'plugins/examples/' 'errors are Result or Status'
ban '\bcatch\b *\(' 'src/api/|src/documents/|src/framework/|src/app/|src/config/|src/extender/|plugins/examples/' \
  'an exception ends in the room that owns its library'
ban '\bgetenv\b' 'src/base/|src/client/|src/app/' 'the environment is read by client and app'
ban 'std::regex' '$^' 'std::regex is slow and throws'
exit $failed
