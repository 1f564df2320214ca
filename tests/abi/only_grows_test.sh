#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only_grows_test.sh HEADERS: only_grows.sh lets the C headers in HEADERS grow, and names what is
# taken from them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
released=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# edit HEADER SED: the next version, which is the released one but for that.
edit() {
  rm -rf "$work/next"
  cp -r "$released" "$work/next"
  sed -i "$2" "$work/next/$1"
}
fail() {
  echo "only_grows.sh: $1"
  exit 1
}
grows() { "$here/only_grows.sh" "$released" "$work/next" >"$work/said"; }

edit library.h 's|^} berth_plugin;|  void (*later)(void* plugin);\n} berth_plugin;|'
grows || fail "refuses a new member at the end: $(cat "$work/said")"
edit types.h 's|^#define BERTH_ABI_MINOR .*|#define BERTH_ABI_MINOR 7|; s|^// What a plugin answers.*|// Verdicts.|'
grows || fail "refuses a new minor version and another comment: $(cat "$work/said")"
edit library.h '/void (\*destroy)(void\* plugin);/d'
! grows || fail "lets a member go"
grep -q destroy "$work/said" || fail "does not name the member that is gone"
edit types.h 's|BERTH_SKIP = 5|BERTH_SKIP = 9|'
! grows || fail "lets a value change"
