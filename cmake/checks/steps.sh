# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A long run in steps: what each took is a table at the end, and a run that has a deadline leaves out what
# would go on beyond it. ./dev sources this file for `test` and `verify`.
#
#   BERTH_DEADLINE   seconds since 1970; a step that would go on beyond it is left out, one that is under way
#                    then is ended and counts as left out. Without it all steps are taken.
#   STEPS            the folder for logs and times of this run
#
# A step that fails ends the run with exit code 1, and what it prints is what the step printed.

steps_begin() {
  STEPS=$1
  rm -rf "$STEPS"
  mkdir -p "$STEPS"
  trap steps_end EXIT
}

# step <minutes> <name> <command>...: the command is a program or a function; minutes are what it takes without
# caches on two cores.
step() {
  local minutes=$1 name=$2 left=$((1 << 30)) ended=0
  shift 2
  [ -z "${BERTH_DEADLINE:-}" ] || left=$((BERTH_DEADLINE - $(date +%s)))
  if [ "$left" -lt $((minutes * 60)) ] || [ "$left" -le 0 ]; then
    printf '== Left out: %s, which may take %d min of the %d that are left\n' "$name" "$minutes" $((left > 0 ? left / 60 : 0)) >&2
    printf '%s\tleft out\t\n' "$name" >>"$STEPS/table"
    return
  fi
  say "$name"
  local begin=$SECONDS guard=
  # In a shell of its own, where `set -e` holds and whose CPU time is the step's, and in a group of its own, which
  # the deadline or Ctrl-C ends.
  set -m
  (
    trap - EXIT
    trap 'steps_cpu >"$STEPS/cpu"' EXIT
    set -e
    "$@"
  ) &
  local pid=$!
  set +m
  STEP_GROUP=$pid
  if [ -n "${BERTH_DEADLINE:-}" ]; then
    (trap - EXIT; sleep "$left"; touch "$STEPS/late"; kill -TERM -- "-$pid") >/dev/null 2>&1 &
    guard=$!
  fi
  wait "$pid" || ended=$?
  STEP_GROUP=
  if [ -n "$guard" ]; then kill "$guard" 2>/dev/null || true; fi
  if [ -e "$STEPS/late" ]; then
    rm -f "$STEPS/late"
    printf '== Left out: the end of %s: the time is up\n' "$name" >&2
    printf '%s\tcut short\t%s\n' "$name" "$(cat "$STEPS/cpu" 2>/dev/null)" >>"$STEPS/table"
    return
  fi
  printf '%s\t%s\t%s\n' "$name" "$(minutes_of $((SECONDS - begin)))" "$(cat "$STEPS/cpu")" >>"$STEPS/table"
  rm -f "$STEPS/cpu"
  [ "$ended" -eq 0 ] || die "$name: failed"
}

# begin <lane> <command>...: behind the steps, at the lowest priority; `await` waits.
begin() {
  local lane=$1
  shift
  rm -f "$STEPS/$lane".*
  set -m
  (
    trap - EXIT
    trap 'steps_cpu >"$STEPS/'"$lane"'.cpu"' EXIT
    renice -n 19 -p "$BASHPID" >/dev/null
    set -e
    "$@"
    touch "$STEPS/$lane.done"
  ) >"$STEPS/$lane.log" 2>&1 &
  set +m
  printf '%d' $! >"$STEPS/$lane.pid"
}

# behind <name> <command>...: a part of a lane, which makes <name>.ended; its times stand in the table, too.
behind() {
  local name=$1 begin=$SECONDS
  shift
  say "$name"
  (
    trap 'steps_cpu >"$STEPS/'"$name"'.part"' EXIT
    set -e
    "$@"
  )
  printf '%s (behind)\t%s\t%s\n' "$name" "$(minutes_of $((SECONDS - begin)))" "$(cat "$STEPS/$name.part")" >>"$STEPS/table"
  touch "$STEPS/$name.ended"
}

# await <lane> [file]: until the lane has ended, or has made the file. Fails, with the end of its log, where it failed.
await() {
  local lane=$1 file=${2:-$STEPS/$1.done}
  [ -e "$file" ] || say "Waiting for $lane (log: $STEPS/$lane.log)"
  while [ ! -e "$file" ] && kill -0 "$(cat "$STEPS/$lane.pid")" 2>/dev/null; do sleep 0.5; done
  [ -e "$file" ] || [ -e "$STEPS/$lane.done" ] || { tail -n 200 "$STEPS/$lane.log" >&2; die "$lane: failed"; }
}

# The CPU time of this shell and what it ran, in minutes. `times` in a pipe would tell that of the pipe.
steps_cpu() {
  local file=$STEPS/times.$BASHPID
  times >"$file"
  awk '{ for (i = 1; i <= 2; ++i) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] } }
       END { printf "%.1f", sum / 60 }' "$file"
  rm -f "$file"
}

minutes_of() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

steps_end() {
  local code=$? lane
  [ -z "${STEP_GROUP:-}" ] || kill -TERM -- "-$STEP_GROUP" 2>/dev/null || true
  for lane in "$STEPS"/*.pid; do
    [ -e "$lane" ] || continue
    lane=${lane%.pid}
    if [ ! -e "$lane.cpu" ]; then
      kill -TERM -- "-$(cat "$lane.pid")" 2>/dev/null || true
    elif [ "$code" -eq 0 ] && [ ! -e "$lane.done" ]; then
      # It has failed, and the step was left out that waits for it.
      tail -n 200 "$lane.log" >&2
      code=1
    fi
    [ ! -e "$lane.done" ] || printf '%s (behind)\t\t%s\n' "$(basename "$lane")" "$(cat "$lane.cpu" 2>/dev/null)" >>"$STEPS/table"
  done
  [ -s "$STEPS/table" ] || exit "$code"
  printf '\n%-44s %10s %12s\n' STEP MINUTES CPU-MINUTES >&2
  awk -F'\t' '{ printf "%-44s %10s %12s\n", $1, $2, $3 }' "$STEPS/table" >&2
  steps_cpu >"$STEPS/cpu"
  printf '%-44s %10s %12s\n' all "$(minutes_of $SECONDS)" "$(cat "$STEPS/cpu")" >&2
  exit "$code"
}
