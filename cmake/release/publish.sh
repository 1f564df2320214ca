#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Publishes what release.sh made: pushes the image and the chart to the places of cmake/release/places, signed as cosign
# does, with provenance and bills of materials, and signs the files, which are then uploaded. docs/releasing.md
#
# Usage: publish.sh [<version>]
#   Without <version>: what was made last, to which .build/released leads. BERTH_SIGNING_KEY is the key, in PEM;
#   BERTH_REGISTRY_USER and BERTH_REGISTRY_PASSWORD are who pushes, else whom docker or podman has logged in.
set -euo pipefail
cd "$(dirname "$0")/../.."
die() { printf 'publish: %s\n' "$*" >&2; exit 1; }
version=${1:-$(readlink .build/released | sed 's/^release-//' || true)}
folder=$PWD/.build/release-$version
[ -e "$folder/SHA256SUMS" ] || die "there is no release '$version': ./dev release makes it"
place() { sed -n "s/^$1=//p" cmake/release/places; }
if grep -q '^[a-z]*=.*\.example\(/\|$\)' cmake/release/places; then die "cmake/release/places still has examples"; fi
[ -n "${BERTH_SIGNING_KEY:-}" ] || die "BERTH_SIGNING_KEY is not set; docs/releasing.md says how to make a key"
(cd "$folder" && sha256sum --quiet --check SHA256SUMS) || die "the files are not those that were made"
go -C tests run ./image/cmd/publish -version "$version" -image "$(place image)" -charts "$(place charts)" "$folder"
printf 'publish: now upload the files of %s to %s/v%s/\n' "$folder" "$(place files)" "$version" >&2
