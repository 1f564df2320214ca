#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Gives the tree in the current folder a version: CMakeLists.txt, from which programs and packages have it,
# and the manifests and pages that name an image or a package. CHANGELOG.md's section "Unreleased" becomes
# the version's; a tree that has the version already stays as it is.
#
# Usage: set_version.sh <version> <date, such as 2026-01-31>
set -euo pipefail
version=$1 date=$2
if grep -q "^## Unreleased" CHANGELOG.md && grep -q "^## $version - " CHANGELOG.md; then
  printf 'set_version: CHANGELOG.md has changes after %s, which are unreleased\n' "$version" >&2
  exit 1
fi
old=$(sed -n 's/^project(Berth VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
pattern=${old//./\\.}
sed -i "s/^project(Berth VERSION $pattern/project(Berth VERSION $version/" CMakeLists.txt
sed -i "s/\(berth:v\|newTag: v\|ersion: \|berth[-_]\)$pattern\b/\1$version/g" deploy/Dockerfile deploy/README.md \
  deploy/base/kustomization.yaml deploy/helm/Chart.yaml deploy/overlays/kube-scheduler/*.yaml docs/installing.md
sed -i "s/^## Unreleased.*/## $version - $date/" CHANGELOG.md
