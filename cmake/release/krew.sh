#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints the manifest with which krew installs a release as a plugin of kubectl, for each architecture of which the folder
# has an archive. It is what an index of krew has, and `kubectl krew install --manifest`.
#
# Usage: krew.sh <version> <folder of the release>
set -euo pipefail
version=$1 folder=$2
cd "$(dirname "$0")"
place() { sed -n "s/^$1=//p" places; }
cat <<END
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: berth
spec:
  version: v$version
  homepage: $(place site)
  shortDescription: Says why pods are pending, and what would help
  description: |
    Asks the scheduler Berth, or what a cluster has, why a pod is pending: every node, nearest misses first, and the
    smallest changes that would let it schedule, each tried. Also tries what if: more nodes, a drain, another
    configuration; plans which pods to move; and shows a cluster in a browser. None of it changes anything, but for
    "kubectl berth plan --apply".
  platforms:
END
for archive in "$folder/kubectl-berth-$version-linux-"*.tar.gz; do
  [ -e "$archive" ] || { printf 'krew: there is no archive for it in %s\n' "$folder" >&2; exit 1; }
  architecture=${archive##*-linux-} sum=$(sha256sum "$archive")
  cat <<END
    - selector:
        matchLabels:
          os: linux
          arch: ${architecture%.tar.gz}
      uri: $(place files)/v$version/$(basename "$archive")
      sha256: ${sum%% *}
      bin: kubectl-berth/kubectl-berth
END
done
