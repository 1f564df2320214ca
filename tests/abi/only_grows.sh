#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only_grows.sh OLD NEW: exit 1 when a header of the C interface in NEW lacks a line that OLD has,
# comments, blanks and the minor version apart. Prints what is missing.
set -euo pipefail
old=$1 new=$2
code() {
  sed -E 's,//.*,,' "$1" | tr -s ' \n' ' ' | sed -E 's/([;{}])/\1\n/g; s/, (BERTH_[A-Z_]+ =)/,\n\1/g' |
    sed -E 's/#define BERTH_ABI_MINOR [0-9]+//; s/^ +//; s/[ ,]+$//; s/ \}$//' | grep -v '^ *$' || true
}
missing=$(for header in "$old"/*.h; do
  diff <(code "$header") <(code "$new/$(basename "$header")") | grep '^<' || true
done)
[ -z "$missing" ] && exit 0
printf 'gone or changed since %s:\n%s\n' "$old" "$missing"
exit 1
