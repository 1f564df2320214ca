#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes all files of a release from the commit that is checked out, twice, in folders of different names,
# and keeps them only if both are the same byte for byte. docs/releasing.md
#
# Usage: release.sh <version> [--dry-run] [--program <file>]
#   --dry-run   the tree need not have the version: copies of it get the version. Each copy keeps what it has
#               compiled for the next dry run; a release compiles everything
#   --program   packs this program instead of building one, twice; for tests of the rest
# Writes to .build/release-<version>/, and works in $BERTH_CACHE/release.
set -euo pipefail
cd "$(dirname "$0")/../.."
tree=$PWD
die() { printf 'release: %s\n' "$*" >&2; exit 1; }
say() { printf '== %s\n' "$*" >&2; }

version="" dry_run="" program=""
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry_run=1 ;;
    --program) program=$(realpath "${2:?--program needs a file}"); shift ;;
    -*) die "unknown option $1" ;;
    *) [ -z "$version" ] || die "one version, please"; version=$1 ;;
  esac
  shift
done
[[ $version =~ ^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$ ]] || die "a version is three numbers, such as 0.2.0, not '$version'"

# --- The tree -----------------------------------------------------------------------------------
[ -z "$(git status --porcelain)" ] || die "the tree has changes that are not committed"
if [ -z "$dry_run" ]; then
  [ -z "$program" ] || die "--program goes with --dry-run only: a release is built"
  grep -q "^project(Berth VERSION $version " CMakeLists.txt || die "CMakeLists.txt has another version: cmake/release/set_version.sh $version"
  grep -q "^## $version - " CHANGELOG.md || die "CHANGELOG.md has no section for $version"
  for page in docs/compatibility.md docs/upgrading.md; do
    grep -q "^| ${version%.*} |" "$page" || die "$page has no row for ${version%.*}"
  done
  git rev-parse -q --verify "refs/tags/v$version" >/dev/null && die "there is a tag v$version already"
fi
BERTH_REVISION=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export BERTH_REVISION SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)

# pack <from> <folder in the archive> <file> [<option of tar>]: the same bytes for the same files.
pack() {
  tar --create "${@:4}" --directory "$1" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --mtime="@$SOURCE_DATE_EPOCH" --format=gnu --transform "s,^\.,$2,S" . | gzip -9n >"$3"
}

# make <copy of the tree> <folder for the files>
make() (
  cd "$1"
  mkdir "$2"
  pack . "berth-$version" "$2/berth-$version-source.tar.gz"
  # Some of its files are links to those of the base.
  pack deploy/helm berth "$2/berth-$version-chart.tgz" --dereference
  # What is new in this version: its section of the changelog.
  awk -v heading="## $version - " 'index($0, heading) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md | sed '/./,$!d' >"$2/NOTES.md"
  [ -s "$2/NOTES.md" ] || die "CHANGELOG.md says nothing about $version"
  local built=$program
  if [ -z "$built" ]; then
    # Neither copy is given what the other has compiled.
    if [ -n "$dry_run" ]; then export CCACHE_DIR=$1.ccache; else export CCACHE_DISABLE=1; fi
    cmake --preset ship >"$1.log" 2>&1 || { cat "$1.log" >&2; die "cmake failed"; }
    cmake --build --preset ship --parallel "${BERTH_JOBS:-$(nproc)}" >&2
    built=.build/ship/bin/berth
    cmake/checks/hardening.sh "$built" >&2 || die "the program lacks what a release has"
    cmake/checks/hardening.sh .build/ship/lib/berth/plugins/legacy.so --linked >&2 || die "its plugin library lacks what a release has"
    [[ $("$built" version) == *"v$version"* ]] || die "the program has another version"
  fi
  deploy/image/build.sh "$built" "$2" >&2
  cmake/package/build.sh "$built" "$2"
)

work=${BERTH_CACHE:-$HOME/.cache/berth}/release
mkdir -p "$work"
exec 9>"$work/lock"
flock -n 9 || die "another release is being made in $work"
# Names of different lengths: a path that gets into a file shows.
copies=("$work/one" "$work/another-of-a-longer-name")
for copy in "${copies[@]}"; do
  say "$version in $copy"
  rm -rf "$copy" "$copy.files"
  mkdir -p "$copy"
  git archive "$BERTH_REVISION" | tar --extract --directory "$copy"
  [ -z "$dry_run" ] || (cd "$copy" && cmake/release/set_version.sh "$version" "$date")
  make "$copy" "$copy.files"
done

# --- Are they the same? -------------------------------------------------------------------------
diff -r "${copies[0]}.files" "${copies[1]}.files" >&2 || die "two builds of $BERTH_REVISION differ"
files=$tree/.build/release-$version
rm -rf "$files"
mkdir -p "$tree/.build"
mv "${copies[0]}.files" "$files"
rm -rf "${copies[1]}.files"
(cd "$files" && sha256sum -- * >SHA256SUMS)
say "Made twice, the same byte for byte: $files"
cat "$files/SHA256SUMS"
if [ -z "$dry_run" ]; then
  say "Now: git tag -s v$version -F $files/NOTES.md && git push origin v$version, and publish the files"
fi
