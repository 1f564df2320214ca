#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes all files of a release from the commit that is checked out, twice, in folders of different names,
# and keeps them only if both are the same byte for byte. docs/releasing.md
#
# What depends on the architecture is its parts: image, packages, debug information, bill of materials. The rest joins
# the parts of all architectures: one image, chart and manifests that name it by digest, a plugin of kubectl, provenance.
#
# Usage: release.sh [<version>] [--dry-run | --tagged] [--native] [--parts | --join] [--program <file>]...
#   --dry-run   the tree need not have the version: copies of it get the version. Each copy keeps what it has
#               compiled for the next dry run; a release compiles everything
#   --tagged    the commit has the version's tag already; without <version> it is that tag's
#   --native    for this machine's architecture only; without it amd64 builds for arm64, too (cmake/cross)
#   --parts     makes the parts, and nothing of the rest
#   --join      builds nothing: the parts of all architectures are in .build/parts
#   --program   packs this program, for what it is for, instead of building any, twice; for tests of the rest
# Writes to .build/release-<version>/, to which .build/released leads, and works in $BERTH_CACHE/release. BERTH_BUILDER
# is the address of who runs it, for the provenance.
set -euo pipefail
cd "$(dirname "$0")/../.."
tree=$PWD
die() { printf 'release: %s\n' "$*" >&2; exit 1; }
say() { printf '== %s\n' "$*" >&2; }

version="" dry_run="" tagged="" native="" parts="" join="" programs=()
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry_run=1 ;;
    --tagged) tagged=1 ;;
    --native) native=1 ;;
    --parts) parts=1 ;;
    --join) join=1 ;;
    --program) programs+=("$(realpath "${2:?--program needs a file}")"); shift ;;
    -*) die "unknown option $1" ;;
    *) [ -z "$version" ] || die "one version, please"; version=$1 ;;
  esac
  shift
done
[ -z "$dry_run" ] || [ -z "$tagged" ] || die "a dry run has no tag"
[ -z "$parts" ] || [ -z "$join" ] || die "--parts or --join, not both"
if [ -n "$tagged" ] && [ -z "$version" ]; then
  version=$(git tag --points-at HEAD --list 'v*')
  version=${version#v}
fi
[[ $version =~ ^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$ ]] || die "a version is three numbers, such as 0.2.0, not '$version'"

# --- The tree -----------------------------------------------------------------------------------
[ -z "$(git status --porcelain)" ] || die "the tree has changes that are not committed"
if [ -z "$dry_run" ]; then
  [ ${#programs[@]} -eq 0 ] || die "--program goes with --dry-run only: a release is built"
  grep -q "^project(Berth VERSION $version " CMakeLists.txt || die "CMakeLists.txt has another version: cmake/release/set_version.sh $version"
  grep -q "^## $version - " CHANGELOG.md || die "CHANGELOG.md has no section for $version"
  for page in docs/compatibility.md docs/upgrading.md; do
    grep -q "^| ${version%.*} |" "$page" || die "$page has no row for ${version%.*}"
  done
  tag=$(git rev-parse -q --verify "refs/tags/v$version^{commit}" || true)
  if [ -n "$tagged" ]; then
    [ "$tag" = "$(git rev-parse HEAD)" ] || die "the commit has no tag v$version"
  elif [ -n "$tag" ]; then
    die "there is a tag v$version already"
  fi
fi
place() { sed -n "s/^$1=//p" "$tree/cmake/release/places"; }
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

# What is built: the release of this machine's architecture, and of arm64.
presets=(ship)
if [ -z "$native" ] && [ "$(dpkg --print-architecture)" = amd64 ]; then presets+=(ship-arm64); fi

# check_program <program>: is it what a release has?
check_program() (
  program=$1
  # shellcheck source=cmake/cross/program.sh
  source cmake/cross/program.sh
  cmake/checks/hardening.sh "$program" >&2 || die "the program for $architecture lacks what a release has"
  cmake/checks/hardening.sh "${program%/bin/*}/lib/berth/plugins/legacy.so" --linked >&2 ||
    die "its plugin library for $architecture lacks what a release has"
  [[ $("${run[@]}" "$program" version) == *"v$version"* ]] || die "the program for $architecture has another version"
)

# make_parts <copy of the tree> <folder for the files>
make_parts() (
  cd "$1"
  local built=("${programs[@]}") preset program
  if [ ${#built[@]} -eq 0 ]; then
    # Neither copy is given what the other has compiled.
    if [ -n "$dry_run" ]; then export CCACHE_DIR=$1.ccache; else export CCACHE_DISABLE=1; fi
    for preset in "${presets[@]}"; do
      cmake --preset "$preset" >"$1.log" 2>&1 || { cat "$1.log" >&2; die "cmake failed"; }
      cmake --build --preset "$preset" --parallel "${BERTH_JOBS:-$(nproc)}" >&2
      check_program "$PWD/.build/$preset/bin/berth"
      built+=("$PWD/.build/$preset/bin/berth")
    done
  fi
  for program in "${built[@]}"; do
    deploy/image/build.sh "$program" "$2" >&2
    cmake/package/build.sh "$program" "$2"
    cmake/package/kubectl.sh "$program" "$2"
  done
)

# make_rest <copy of the tree> <folder with the parts, for the files>
make_rest() (
  cd "$1"
  pack . "berth-$version" "$2/berth-$version-source.tar.gz" --exclude=./.build
  # What is new in this version: its section of the changelog.
  awk -v heading="## $version - " 'index($0, heading) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md | sed '/./,$!d' >"$2/NOTES.md"
  [ -s "$2/NOTES.md" ] || die "CHANGELOG.md says nothing about $version"
  digest=$(go -C tests run ./image/cmd/join -out "$2/berth-$version.image.tar" -version "$version" -epoch "$SOURCE_DATE_EPOCH" \
    "$2/berth-$version"-*.image.tar)
  cmake/release/set_places.sh
  local image
  image=$(place image)
  # Who has named no place loads the image into nodes, where it has the name that the tree's manifests have.
  if [[ $image != *.example/* ]]; then
    sed -i "s!^    newTag: v$version\$!    newName: $image\n    digest: $digest!" deploy/base/kustomization.yaml deploy/overlays/kube-scheduler/kustomization.yaml
    sed -i "s!^\( *image: \)berth:v$version\$!\1$image@$digest!" deploy/overlays/kube-scheduler/kubeadm-patch.yaml
    sed -i "s!^  repository: berth .*!  repository: $image!; s!^  digest: \"\" .*!  digest: $digest  # of v$version; empty: the tag counts!" deploy/helm/values.yaml
  fi
  # Some of its files are links to those of the base.
  pack deploy/helm berth "$2/berth-$version-chart.tgz" --dereference
  pack deploy berth-deploy "$2/berth-$version-manifests.tar.gz" --exclude=./helm --exclude=./image --exclude=./systemd --exclude='./Dockerfile*'
  cmake/release/krew.sh "$version" "$2" >"$2/berth.yaml"
  local source
  source=$(place source)
  go -C tests run ./image/cmd/provenance -out "$2.provenance" -version "$version" -revision "$BERTH_REVISION" -source "$source" \
    -type "$(place site)/releasing.html#provenance" -builder "${BERTH_BUILDER:-$source}" -image "$image" -digest "$digest" "$2"
  mv "$2.provenance" "$2/berth-$version.provenance.json"
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
  mkdir "$copy.files"
  if [ -n "$join" ]; then
    for part in "$tree"/.build/parts/*; do
      [[ ${part##*/} == *berth[-_]"$version"[-_]* ]] || die "$part is no part of $version"
      cp "$part" "$copy.files"
    done
  else
    make_parts "$copy" "$copy.files"
  fi
  [ -n "$parts" ] || make_rest "$copy" "$copy.files"
done

# --- Are they the same? -------------------------------------------------------------------------
diff -r "${copies[0]}.files" "${copies[1]}.files" >&2 || die "two builds of $BERTH_REVISION differ"
files=$tree/.build/release-$version
rm -rf "$files"
mkdir -p "$tree/.build"
mv "${copies[0]}.files" "$files"
rm -rf "${copies[1]}.files"
ln -sfn "release-$version" "$tree/.build/released"
if [ -n "$parts" ]; then
  say "Parts, made twice, the same byte for byte: $files"
  exit
fi
(cd "$files" && sha256sum -- * >SHA256SUMS)
say "Made twice, the same byte for byte: $files"
cat "$files/SHA256SUMS"
if [ -z "$dry_run" ]; then
  [ -n "$tagged" ] || say "Now: git tag -s v$version -F $files/NOTES.md && git push origin v$version"
  say "Then: ./dev publish $version"
fi
