#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How a program was compiled and linked, as its file tells: prints what it lacks; exit 1 when it
# lacks something.
#
# Usage: hardening.sh <program or *.so> [--linked]   --linked: only what the linker does, as in dev builds
set -uo pipefail
program=$1
linked_only=${2:-}
headers=$(readelf --wide --file-header --program-headers --dynamic "$program") || exit 2
symbols=$(readelf --wide --dyn-syms "$program") || exit 2
failed=0
needs() {
  grep -qE -- "$2" <<<"$3" && return
  printf '%s: %s\n' "$program" "$1"
  failed=1
}
[[ $program == *.so ]] || needs 'no position-independent executable (-pie)' 'FLAGS_1.*\bPIE\b' "$headers"
needs 'no read-only relocations (-z relro)' 'GNU_RELRO' "$headers"
needs 'its functions are bound late (-z now)' 'FLAGS_1.*\bNOW\b' "$headers"
needs 'its stack is executable (-z noexecstack)' 'GNU_STACK.* RW ' "$headers"
if [ "$linked_only" != --linked ]; then
  needs 'no stack protector (-fstack-protector-strong)' '__stack_chk_fail' "$symbols"
  needs 'no checked calls (_FORTIFY_SOURCE)' '__[a-z]+_chk(@|$)' "$symbols"
fi
exit $failed
