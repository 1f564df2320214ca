#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy and thread-safety analysis over the daemon's sources, joined as the compiler gets them: what most headers cost is
# paid once for 24 sources. A unit whose text after the preprocessor has passed before, in whichever checkout, is not asked again.
#
# Usage: CLANG_TIDY=<program> tidy.sh <folder of a configured build that joins sources> <folder for what has passed> [file...]
# With files, the units that have them are asked.
set -uo pipefail
: "${CLANG_TIDY:?which program}"
cd "$(dirname "$0")/../.." || exit 2
mkdir -p "$2"
BUILD=$(cd "$1" && pwd) PASSED=$(cd "$2" && pwd)
shift 2
COMMANDS=$(mktemp -d)
trap 'rm -rf "$COMMANDS"' EXIT
export BUILD PASSED COMMANDS CLANG_TIDY

# The build's commands of these rooms and plugins, without its precompiled headers, which are another compiler's; prints the units.
units() {
  python3 - "$@" <<'PYTHON'
import json, os, re, sys

tree, build = os.getcwd(), os.environ["BUILD"]
wanted = {os.path.abspath(name) for name in sys.argv[1:]}
kept = []
for entry in json.load(open(os.path.join(build, "compile_commands.json"))):
    name = entry["file"]
    if name.startswith(build + "/"):
        sources = re.findall(r'^#include "(.*)"', open(name).read(), re.M) if "/Unity/" in name else []
    else:
        sources = [name]
    rooms = (tree + "/src/", tree + "/plugins/")
    if not sources or not all(s.startswith(rooms) and s.endswith(".cc") and "/plugins/examples/" not in s for s in sources):
        continue
    if wanted and not wanted & set(sources):
        continue
    entry["command"] = re.sub(r" (-Xclang )?-include-pch (-Xclang )?\S+| -Winvalid-pch| -fpch-\S+", "", entry["command"])
    if name not in [other["file"] for other in kept]:
        kept.append(entry)
with open(os.path.join(os.environ["COMMANDS"], "compile_commands.json"), "w") as out:
    json.dump(kept, out)
with open(os.path.join(os.environ["COMMANDS"], "commands"), "w") as out:
    for entry in kept:
        preprocess = re.sub(r" -o \S+", "", entry["command"]).replace(" -c ", " -E ")
        out.write(entry["file"] + "\t" + re.sub(r"^.*?\+\+\S* ", "", preprocess) + "\n")
for entry in kept:
    sys.stdout.write(entry["file"] + "\0")
PYTHON
}

tidy_one() {
  local unit=$1 key command output
  command=$(awk -F'\t' -v unit="$unit" '$1 == unit { print $2 }' "$COMMANDS/commands")
  key=$({ cat .clang-tidy; "$CLANG_TIDY" --version
          (cd "$BUILD" && eval "clang++-19 -w -P -fmacro-prefix-map=$PWD/= $command"); } 2>/dev/null |
    sha256sum | cut -c1-40)
  [ -e "$PASSED/$key" ] && return 0
  if output=$("$CLANG_TIDY" --quiet --extra-arg=-Wthread-safety --extra-arg=-Wno-deprecated-declarations \
      -p "$COMMANDS" "$unit" 2>/dev/null); then
    touch "$PASSED/$key"
  else
    printf '%s\n' "$output"
    return 1
  fi
}
export -f tidy_one

# shellcheck disable=SC2016
units "$@" | xargs -0 -P "${BERTH_JOBS:-$(nproc)}" -n 1 bash -c 'tidy_one "$1"' tidy_one
