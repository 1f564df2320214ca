#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build_examples.sh BUILD SDK HEADERS CC CXX CXXFLAGS: builds plugins/examples in BUILD as a user
# would, against the SDK installed in SDK; with HEADERS not empty, those take the place of its
# headers. The libraries come to lie in BUILD/plugins.
set -euo pipefail
build=$1 sdk=$2 headers=$3 cc=$4 cxx=$5 flags=$6
examples=$(cd "$(dirname "$0")/../../plugins/examples" && pwd)

rm -rf "$build"
mkdir -p "$build/plugins"
if [ -n "$headers" ]; then
  cp -r "$sdk" "$build/sdk"
  rm -rf "$build/sdk/include/berth"
  mkdir "$build/sdk/include/berth"
  cp -r "$headers/loadable" "$build/sdk/include/berth/"
  sdk=$build/sdk
fi
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
cmake -S "$examples" -B "$build" -DCMAKE_PREFIX_PATH="$sdk" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_C_FLAGS="$warnings" -DCMAKE_CXX_FLAGS="$warnings $flags" \
  -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$build/plugins"
cmake --build "$build"
# Others on the machine must not be able to change what the scheduler loads.
chmod -R o-w "$build/plugins"
