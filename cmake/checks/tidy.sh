#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy and thread-safety analysis over the daemon's sources. A file whose text after the
# preprocessor has passed before, in whichever checkout, is not asked again.
#
# Usage: CLANG_TIDY=<program> tidy.sh <build folder with compile_commands.json> <folder for what has passed> [file...]
set -uo pipefail
: "${CLANG_TIDY:?which program}"
cd "$(dirname "$0")/../.." || exit 2
build=$1 passed=$2
shift 2
mkdir -p "$passed"
if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files 'src/*.cc' 'plugins/*.cc' ':!plugins/examples')
else
  files=("$@")
fi

tidy_one() {
  local file=$1 key command output
  command=$(FILE=$PWD/$file perl -0ne '
    while (/"command":\s*"((?:[^"\\]|\\.)*)",\s*"file":\s*"([^"]*)"/g) {
      if ($2 eq $ENV{FILE}) { $_ = $1; s/\\"/"/g; s/ -o \S+//; s/ -c / -E /; s/^.*?\+\+\S* //; print; last }
    }' "$BUILD/compile_commands.json")
  key=$({ cat .clang-tidy; "$CLANG_TIDY" --version
          (cd "$BUILD" && eval "clang++-19 -w -P -fmacro-prefix-map=$PWD/= $command"); } 2>/dev/null |
    sha256sum | cut -c1-40)
  [ -e "$PASSED/$key" ] && return 0
  if output=$("$CLANG_TIDY" --quiet --extra-arg=-Wthread-safety --extra-arg=-Wno-deprecated-declarations \
      -p "$BUILD" "$file" 2>/dev/null); then
    touch "$PASSED/$key"
  else
    printf '%s\n' "$output"
    return 1
  fi
}
export -f tidy_one
BUILD=$(cd "$build" && pwd) PASSED=$(cd "$passed" && pwd)
export BUILD PASSED CLANG_TIDY

# shellcheck disable=SC2016
printf '%s\0' "${files[@]}" |
  xargs -0 -P "${BERTH_JOBS:-$(nproc)}" -n 1 bash -c 'tidy_one "$1"' tidy_one
