#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build_page.sh BUILD SDK: builds the plugin that docs/tutorial/own_plugin.md shows, from the page's own
# text, in BUILD/plugins.
set -euo pipefail
build=$1 sdk=$2
page=$(dirname "$0")/../../docs/tutorial/own_plugin.md

# block LANGUAGE: the first fenced block of that language.
block() { awk -v fence='```'"$1" '$0 == fence { on = 1; next } on && /^```/ { exit } on' "$page"; }

rm -rf "$build"
mkdir -p "$build/source" "$build/plugins"
block cpp >"$build/source/avoid_zone.cc"
block cmake >"$build/source/CMakeLists.txt"
cmake -S "$build/source" -B "$build" -DCMAKE_PREFIX_PATH="$sdk" \
  -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$build/plugins"
cmake --build "$build"
chmod -R o-w "$build/plugins"
