#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Packs a program of the preset ship as a plugin of kubectl for any Linux: with the libraries that it needs, the C
# library and its loader among them. Files are those of the image (deploy/image/root.sh).
#
# Usage: kubectl.sh <program> <folder>
#   Writes <folder>/kubectl-berth-<version>-linux-<architecture>.tar.gz. Times in it are SOURCE_DATE_EPOCH, else the
#   commit's.
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C TZ=UTC
umask 022
# shellcheck source=cmake/cross/program.sh
source cmake/cross/program.sh
version=$(sed -n 's/^project(Berth VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
deploy/image/root.sh "$program" "$work/root"
plugin=$work/kubectl-berth
mkdir -p "$plugin/lib/berth"
cp "$work/root/usr/local/bin/berth" "$plugin/berth"
# The loader stands in for the program: plugin libraries are looked for beside its folder, too.
cp -R "$work/root/usr/local/lib/berth/plugins" "$plugin/lib/berth/plugins"
cp "$work"/root/usr/lib/*-linux-gnu/* "$plugin/lib/"
loader=$(readelf -lW "$program" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
cp "$work/root/usr$loader" "$plugin/lib/"
cp "$work/root/usr/share/doc/berth/LICENSE" "$plugin/LICENSE"
mkdir "$plugin/licences"
for copyright in "$work"/root/usr/share/doc/*/copyright; do
  cp "$copyright" "$plugin/licences/$(basename "$(dirname "$copyright")")"
done
cat >"$plugin/kubectl-berth" <<END
#!/bin/sh
# Starts Berth with the libraries beside it; what it starts itself does not get them.
here=\$(dirname "\$(readlink -f "\$0")")
exec "\$here/lib/$(basename "$loader")" --argv0 kubectl-berth --library-path "\$here/lib" "\$here/berth" "\$@"
END
chmod 755 "$plugin/kubectl-berth" "$plugin/berth" "$plugin/lib/$(basename "$loader")"
tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu \
  kubectl-berth | gzip -9n >"$folder/kubectl-berth-$version-linux-$architecture.tar.gz"
