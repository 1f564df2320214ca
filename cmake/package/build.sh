#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Packs a program of the preset ship: a .deb, and a tarball with the SDK.
#
# Usage: build.sh <program> <folder>
#   Writes <folder>/berth_<version>_<architecture>.deb and <folder>/berth-<version>-linux-<architecture>.tar.gz.
#   Times in them are SOURCE_DATE_EPOCH, else the commit's.
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
# shellcheck source=cmake/cross/program.sh
source ../cross/program.sh
# Debian's tools ask for the libraries of this architecture.
export DEB_HOST_ARCH=$architecture

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }
quietly cmake -S . -B "$work" -DBERTH_PROGRAM="$program" -DBERTH_EPOCH="$SOURCE_DATE_EPOCH" -DBERTH_ARCHITECTURE="$architecture" \
  -DBERTH_OBJCOPY="$objcopy" -DBERTH_RUN="$(IFS=';' && echo "${run[*]}")" -DBERTH_LIBRARIES="${system:+$system/usr/lib/$triplet}"
quietly cpack --config "$work/CPackConfig.cmake" -B "$work"
# Not by CPack, which writes an archive in the order that the file system has.
tarball=$(sed -n 's/^project(Berth VERSION \([0-9.]*\).*/berth-\1/p' ../../CMakeLists.txt)-linux-$architecture
for component in berth sdk licence; do
  quietly cmake --install "$work" --component $component --prefix "$work/$tarball"
done
tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu "$tarball" |
  gzip -9n >"$folder/$tarball.tar.gz"
mv "$work"/berth_*.deb "$folder"
