#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The checks' own test: plants one fault after another in a small tree and expects the check to
# name it, and to say nothing of the same tree without it.
#
# Usage: checks_test.sh <folder of the checks>
set -uo pipefail
checks=$(cd "$1" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failures=0

# A sound tree: the real layers.txt, and one source file a room that includes all that it may.
make_tree() {
  tree=$work/tree
  rm -rf "$tree"
  mkdir -p "$tree/cmake/checks" "$tree/include/berth" "$tree"/plugins/{node_name,examples/mine} "$tree/tests"
  cp "$checks/layers.txt" "$tree/cmake/checks/"
  plant include/berth/status.h '#include <string>'
  plant plugins/examples/mine/mine.cc 'void F() { throw 1; }'
  plant plugins/legacy/old.cc '#include "berth/loadable/plugin.hpp"' '#include "berth/saturating.h"' '#include "plugins/legacy/old.h"'
  plant plugins/legacy/args/old_args.cc '#include "berth/status.h"'
  local room rooms may file
  while IFS=: read -r room rooms; do
    case $room in
      include) continue ;;
      plugins) file=plugins/node_name/node_name.cc ;;
      *) file=src/$room/$room.cc ;;
    esac
    for may in ${rooms%%|*}; do
      case $may in
        include) plant "$file" '#include "berth/status.h"' ;;
        plugins) plant "$file" '#include "plugins/in_tree_registry.h"' ;;
        *) plant "$file" "#include \"src/$may/$may.h\"" ;;
      esac
    done
  done < <(grep '^[a-z_]*:' "$checks/layers.txt")
  plant src/base/mutex.h '#include <mutex>' 'std::mutex mutex;' 'std::thread thread;'
  plant src/api/json.cc '#include <nlohmann/json.hpp>' 'void F() { try {} catch (...) {} }'
}

# plant <file> <line>...: appends lines to a file of the tree.
plant() {
  local file=$tree/$1
  shift
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$@" >>"$file"
}

fail() {
  printf 'FAILED: %s\n' "$1"
  printf '  | %s\n' "${output//$'\n'/$'\n  | '}"
  failures=$((failures + 1))
}

# reports <check> <what it must say>: the check must fail, and say so in one of its lines.
reports() {
  output=$("$checks/$1" "$tree" 2>&1)
  local code=$?
  [ $code -eq 1 ] || fail "$1 ended with $code, not 1, for: $2"
  grep -qF -- "$2" <<<"$output" || fail "$1 does not say: $2"
}

is_silent() {
  output=$("$checks/$1" "$tree" 2>&1) || fail "$1 refuses: $2"
  [ -z "$output" ] || fail "$1 is not silent: $2"
}

make_tree
is_silent layers.sh 'a sound tree'
is_silent bans.sh 'a sound tree'

# Includes: file, line, what the check must say of it.
while IFS='|' read -r file line want; do
  make_tree
  plant "$file" "$line"
  reports layers.sh "$want"
done <<'FAULTS'
src/cache/new.cc|#include "src/queue/heap.h"|src/cache/new.cc:1: cache may not include queue
src/cache/new.h|  #  include "src/queue/heap.h"|src/cache/new.h:1: cache may not include queue
src/binding/new.cc|#include "src/cache/cache.h"|src/binding/new.cc:1: binding may not include cache
src/engine/new.cc|#include "src/client/api_client.h"|src/engine/new.cc:1: engine may not include client
plugins/node_name/new.cc|#include "src/base/inbox.h"|plugins/node_name/new.cc:1: plugins may not include base
include/berth/new.h|#include "src/base/inbox.h"|include/berth/new.h:1: include may not include base
src/scheduler/new.cc|#include "plugins/node_name/node_name.h"|src/scheduler/new.cc:1: scheduler may not include plugins
src/client/new.cc|#include <nlohmann/json.hpp>|src/client/new.cc:1: only api or documents may include <nlohmann/json.hpp>
src/app/new.cc|#include <curl/curl.h>|src/app/new.cc:1: only client may include <curl/curl.h>
plugins/node_name/new.cc|#include <spdlog/spdlog.h>|plugins/node_name/new.cc:1: only base may include <spdlog/spdlog.h>
src/cache/new.cc|#include "../queue/heap.h"|src/cache/new.cc:1: an include names the full path
src/attic/new.cc|#include <string>|src/attic/new.cc:1: room attic is not in layers.txt
plugins/legacy/new.cc|#include "berth/status.h"|plugins/legacy/new.cc:1: the library legacy may not include berth/status.h
plugins/legacy/new.cc|#include "plugins/legacy/args/args.h"|plugins/legacy/new.cc:1: the library legacy may not include plugins/legacy/args/args.h
include/berth/saturating.h|#include "berth/status.h"|include/berth/saturating.h:1: a library has this header, so it may not include berth/status.h
FAULTS

make_tree
plant cmake/checks/layers.txt 'early: late |' 'late: include |'
reports layers.sh 'layers.txt: early names late, which no earlier line declares'
make_tree
plant cmake/checks/layers.txt 'late: include base |'
plant src/late/late.cc '#include "berth/status.h"'
reports layers.sh 'layers.txt: late names base, which it does not include'

# Words: file, line; the check must print both.
while IFS='|' read -r file line; do
  make_tree
  plant "$file" "$line"
  reports bans.sh "$file:1:$line"
done <<'FAULTS'
src/queue/new.h|  std::mutex mutex_;
src/queue/new.cc|  std::unique_lock lock(mutex_);
src/cache/new.cc|  std::scoped_lock lock(a, b);
src/cache/new.h|  std::recursive_mutex mutex_;
plugins/node_name/new.cc|  std::condition_variable changed_;
src/cache/new.cc|  if (!found) throw std::runtime_error("no");
include/berth/new.h|  throw 1;
src/scheduler/new.cc|  } catch (const std::exception& e) {
src/binding/new.cc|  std::thread thread([] {});
src/queue/new.h|  std::thread
src/engine/new.cc|  const auto now = std::chrono::steady_clock::now();
src/client/new.cc|  timespec now; clock_gettime(CLOCK_REALTIME, &now);
src/queue/new.cc|  std::mt19937 random;
src/engine/new.cc|  return rand() % 2;
src/config/new.cc|  const char* home = std::getenv("HOME");
src/informers/new.cc|  static const std::regex kName("a+");
tests/unit/queue/new.cc|  usleep(1000);
tests/support/new.h|  const auto now = std::chrono::steady_clock::now();
src/queue/new.h|// The queue is told of each pod.
docs/new.md|Nothing comes to an end here.
FAULTS

make_tree
plant src/queue/new.cc '// throw, std::mutex and rand() may be spoken of.'
is_silent bans.sh 'a comment'

# compiled <option>...: a program whose calls and frames there is something to check in.
compiled() {
  printf '%s\n' '#include <stdio.h>' '#include <string.h>' \
    'int main(int n, char** v) { char b[64]; strcpy(b, v[n - 1]); return puts(b); }' |
    cc -x c -O2 -Wno-all "$@" -o "$work/program" - || exit 2
}
# says_of_program <what it must say>
says_of_program() {
  output=$("$checks/hardening.sh" "$work/program" 2>&1) && fail "hardening.sh accepts: $1"
  grep -qF -- "$1" <<<"$output" || fail "hardening.sh does not say: $1"
}
# shellcheck disable=SC2054
hardened=(-fPIE -pie -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
          -Wl,-z,relro,-z,now,-z,noexecstack)
compiled "${hardened[@]}"
output=$("$checks/hardening.sh" "$work/program" 2>&1) || fail 'hardening.sh refuses a hardened program'
compiled "${hardened[@]}" -no-pie && says_of_program 'no position-independent executable'
compiled "${hardened[@]}" -Wl,-z,norelro && says_of_program 'no read-only relocations'
compiled "${hardened[@]}" -Wl,-z,lazy && says_of_program 'its functions are bound late'
compiled "${hardened[@]}" -Wl,-z,execstack && says_of_program 'its stack is executable'
compiled "${hardened[@]}" -fno-stack-protector && says_of_program 'no stack protector'
compiled "${hardened[@]}" -U_FORTIFY_SOURCE && says_of_program 'no checked calls'
compiled "${hardened[@]}" -fPIC -shared && cp "$work/program" "$work/library.so"
output=$("$checks/hardening.sh" "$work/library.so" 2>&1) || fail 'hardening.sh refuses a hardened library'
compiled "${hardened[@]}" -fPIC -shared -Wl,-z,lazy && cp "$work/program" "$work/library.so"
output=$("$checks/hardening.sh" "$work/library.so" 2>&1) && fail 'hardening.sh accepts a library whose functions are bound late'

[ $failures -eq 0 ] && echo 'every fault was named'
exit $((failures > 0))
