#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes the places of cmake/release/places into manifests, chart and pages of the tree in the current folder, where
# examples of them stand. The tree of a release gets them after it has been packed as source.
#
# Usage: set_places.sh
set -euo pipefail
# The longer one first where one begins as another.
names=(files image charts source site)
examples=(https://forge.example/berth/releases/download registry.example/berth registry.example/charts
  https://forge.example/berth https://berth.example)
script=""
for i in "${!names[@]}"; do
  place=$(sed -n "s/^${names[i]}=//p" cmake/release/places)
  [[ $place =~ ^[A-Za-z0-9:/._-]+$ ]] || {
    printf 'set_places: cmake/release/places has no %s, or one that is no address: "%s"\n' "${names[i]}" "$place" >&2
    exit 1
  }
  # What follows an example ends its name: registry.example/berth-two is another repository.
  script+="s!${examples[i]//./\\.}\([^A-Za-z0-9_-]\|\$\)!$place\1!g;"
done
# Not through links, of which the chart has some to other files here.
grep -rlIZ --exclude-dir=node_modules -e '\.example' deploy docs README.md | xargs -0 sed -i "$script"
