#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds every #include to cmake/checks/layers.txt, and its lines to the includes there are. Prints
# each breach; exit 1 when there is one.
# With an argument, checks that tree instead of this one (the check's own test plants faults so).
set -euo pipefail
root=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
mapfile -t sources < <(find "$root/src" "$root/include" "$root/plugins" \
  -path "$root/plugins/examples" -prune -o \( -name '*.h' -o -name '*.cc' \) -print | sort)
awk -v root="$root" '
function room_of_path(path) {
  if (path ~ /^src\//) { split(path, part, "/"); return part[2] }
  if (path ~ /^include\/berth\//) return "include"
  if (path ~ /^plugins\//) return "plugins"
  return ""
}
function room_of_include(name) {
  if (name ~ /^berth\//) return "include"
  if (name ~ /^plugins\//) return "plugins"
  if (name ~ /^src\//) { split(name, part, "/"); return part[2] }
  return ""
}
# The library that a file of plugins/<library>/ belongs to; a folder below it does not.
function library_of(path,  part) {
  return split(path, part, "/") == 3 && part[1] == "plugins" && (part[2] in library) ? part[2] : ""
}
function fail(text) { print text; failed = 1 }
FILENAME ~ /layers\.txt$/ {
  if ($0 ~ /^#/ || $0 ~ /^[ \t]*$/) next
  colon = index($0, ":"); room = substr($0, 1, colon - 1); rest = substr($0, colon + 1)
  if (sub(/^library /, "", room)) {
    library[room] = 1
    n = split(rest, names, " ")
    for (i = 1; i <= n; i++) bare[names[i]] = 1
    next
  }
  split(rest, halves, "|")
  n = split(halves[1], names, " ")
  for (i = 1; i <= n; i++) {
    if (!(names[i] in known)) fail("layers.txt: " room " names " names[i] ", which no earlier line declares")
    may[room, names[i]] = 1
    edge[++edges] = room SUBSEP names[i]
  }
  known[room] = 1; may[room, room] = 1
  n = split(halves[2], names, " ")
  for (i = 1; i <= n; i++) { owner[names[i]] = owner[names[i]] (owner[names[i]] == "" ? "" : " or ") room; sees[room, names[i]] = 1 }
  next
}
/^[ \t]*#[ \t]*include[ \t]*["<]/ {
  path = substr(FILENAME, length(root) + 2)
  from = room_of_path(path); if (from == "") next
  match($0, /["<][^">]+[">]/); name = substr($0, RSTART + 1, RLENGTH - 2)
  if (!(from in known)) { fail(path ":" FNR ": room " from " is not in layers.txt"); next }
  if (name ~ /^\./) { fail(path ":" FNR ": an include names the full path (" name ")"); next }
  to = room_of_include(name)
  own = path; sub(/^include\//, "", own); of = library_of(path)
  if ((own in bare) && to != "" && !(name in bare)) { fail(path ":" FNR ": a library has this header, so it may not include " name); next }
  if (of != "") {
    if (to != "" && name !~ /^berth\/loadable\// && library_of(name) != of && !(name in bare))
      fail(path ":" FNR ": the library " of " may not include " name)
    next
  }
  if (to != "") { uses[from, to] = 1; if (!((from, to) in may)) fail(path ":" FNR ": " from " may not include " to " (" name ")"); next }
  for (prefix in owner)
    if (index(name, prefix) == 1 && !((from, prefix) in sees))
      fail(path ":" FNR ": only " owner[prefix] " may include <" name ">")
}
END {
  for (i = 1; i <= edges; i++) {
    split(edge[i], ends, SUBSEP)
    if (ends[1] != ends[2] && !(edge[i] in uses)) fail("layers.txt: " ends[1] " names " ends[2] ", which it does not include")
  }
  exit failed
}
' "$root/cmake/checks/layers.txt" "${sources[@]}"
