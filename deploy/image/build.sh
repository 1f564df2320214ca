#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes Berth's image from a program of the preset ship, without a daemon: a tar of an OCI image
# layout, and what belongs to it.
#
# Usage: build.sh <program> <folder>
#   Writes <folder>/berth-<version>-<architecture>.{image.tar,debug,spdx.json}: the image, the program's debug
#   information, and what is in the image by name and version. Times in it are SOURCE_DATE_EPOCH, else the
#   commit's; BERTH_REVISION is the commit, where git does not tell.
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."

version=$(sed -n 's/^project(Berth VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
revision=${BERTH_REVISION:-$(git describe --always --abbrev=40 --dirty --exclude='*')}
# shellcheck source=cmake/cross/program.sh
source cmake/cross/program.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
deploy/image/root.sh "$program" "$work/root" "$work/debug"
image=berth-$version-$architecture
install -m 644 "$work/debug" "$folder/$image.debug"
go -C tests run ./image/cmd/image -out "$folder/$image.image.tar" -sbom "$folder/$image.spdx.json" -version "$version" -revision "$revision" \
  -epoch "$epoch" "$architecture=$work/root"
