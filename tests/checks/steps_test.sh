#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The test of steps.sh: runs in steps that pass, fail, come too late and are ended.
#
# Usage: steps_test.sh <steps.sh>
set -uo pipefail
steps=$(readlink -f "$1") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failures=0

# run <deadline, in seconds from now, or ""> <script>: sets output and code.
run() {
  output=$(
    cd "$work" || exit 2
    if [ -n "$1" ]; then export BERTH_DEADLINE=$(($(date +%s) + $1)); else unset BERTH_DEADLINE; fi
    bash -euo pipefail -c '
      say() { printf "== %s\n" "$*" >&2; }
      die() { printf "dev: %s\n" "$*" >&2; exit 1; }
      source "$0"
      steps_begin steps
      '"$2" "$steps" 2>&1
  )
  code=$?
}

# expect <code> <text>...: the run ended so, and printed each of the texts. A text after "!" is not printed.
expect() {
  local text
  [ "$code" -eq "$1" ] || fail "it ended with $code, not $1"
  for text in "${@:2}"; do
    case $text in
      !*) ! grep -qE -- "${text#!}" <<<"$output" || fail "it prints ${text#!}" ;;
      *) grep -qE -- "$text" <<<"$output" || fail "it does not print $text" ;;
    esac
  done
}

fail() {
  printf 'FAILED: %s\n' "$1"
  printf '  | %s\n' "${output//$'\n'/$'\n  | '}"
  failures=$((failures + 1))
}

run '' 'step 1 first true; step 1 second echo hello'
expect 0 '^== first' '^hello' '^second +0:0' '^all '

# As much as it may, however busy the machine is.
run '' 'burn() { bash -c "ulimit -t 5; while :; do :; done" || true; }; step 1 burns burn'
expect 0 '^burns +[0-9]+:[0-9]+ +0\.1'

# What fails in the middle of a function fails the step, and the run goes no further.
run '' 'bad() { false; echo unreached; }; step 1 bad bad; step 1 next true'
expect 1 '^dev: bad: failed' '^bad +0:0' '!unreached' '!== next'

run 90 'step 1 short true; step 2 long true'
expect 0 '^short +0:0' '^== Left out: long, which may take 2 min of the 1' '^long +left out'

# What is under way when the time is up is ended; what failed before is not forgiven.
run 2 'step 0 endless sleep 60; step 0 after true'
expect 0 '^== Left out: the end of endless' '^endless +cut short' '^== Left out: after|^after +0:0'
run 5 'step 0 failing false'
expect 1 '^dev: failing: failed'

run '' 'work() { sleep 1; touch made; sleep 1; echo end; }; begin lane work; step 1 waits await lane made; step 1 rest await lane'
expect 0 '^waits +0:0' '^rest ' '^lane \(behind\)'
run '' 'work() { echo broken; false; }; begin lane work; step 1 waits await lane'
expect 1 '^broken' '^dev: lane: failed' '^dev: waits: failed'

# Nothing goes on behind a run that has ended.
# shellcheck disable=SC2016
run '' 'work() { echo $BASHPID >lane; exec sleep 60; }; begin lane work; sleep 0.3; step 1 failing false'
expect 1
sleep 0.3
# A process that has ended and waits for its parent has no command line.
if [ -s "$work/lane" ] && grep -q . "/proc/$(cat "$work/lane")/cmdline" 2>/dev/null; then output=''; fail 'a lane outlives its run'; fi

[ $failures -eq 0 ] && echo 'steps.sh: all as it should be'
exit $((failures > 0))
