#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts together the root file system of Berth's image: the program with its plugin libraries, the
# shared libraries that these need and no others, and what tells people and scanners where each comes
# from. All but what is Berth's own are files of Debian packages: this machine's, or for another
# processor those of cmake/cross/sysroot.sh. There is no shell, no package manager and no home. Plugin
# libraries are taken from ../lib/berth/plugins beside the program's folder, which is where the program
# looks for them in the image, too.
#
# Usage: root.sh <program> <folder> [<debug file>]
#   <folder> is made and must not exist; <debug file> gets the program's debug information, which gdb
#   finds by build id.
set -euo pipefail
shopt -s nullglob
program=$1 root=$2 debug=${3:-}
# shellcheck source=cmake/cross/program.sh
source "$(dirname "$0")/../../cmake/cross/program.sh"
export LC_ALL=C
umask 022

die() { printf 'root.sh: %s\n' "$*" >&2; exit 1; }
[ ! -e "$root" ] || die "$root is there already"

# Header-only libraries: inside the program, so their licences go with it.
header_only=(libcli11-dev libexpected-dev libprotozero-dev nlohmann-json3-dev)

mkdir -p "$root"/{etc/ssl/certs,usr/lib/ssl,usr/lib64,usr/local/bin,usr/share/doc/berth} \
  "$root"/var/lib/dpkg/status.d "$root"/{proc,dev,sys,tmp,run}
chmod 1777 "$root/tmp"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"

# --- The program --------------------------------------------------------------------------------
[ -z "$debug" ] || "$objcopy" --only-keep-debug --compress-debug-sections=zlib "$program" "$debug"
"$objcopy" --strip-all "$program" "$root/usr/local/bin/berth"
chmod 755 "$root/usr/local/bin/berth"
# Invoked under this name the program takes kube-scheduler's command line.
ln -s berth "$root/usr/local/bin/kube-scheduler"
plugins=("$(dirname "$program")"/../lib/berth/plugins/*.so)
[ ${#plugins[@]} -gt 0 ] || die "$program has no plugin libraries beside it"
mkdir -p "$root/usr/local/lib/berth/plugins"
for plugin in "${plugins[@]}"; do
  "$objcopy" --strip-unneeded "$plugin" "$root/usr/local/lib/berth/plugins/$(basename "$plugin")"
  chmod 644 "$root/usr/local/lib/berth/plugins/$(basename "$plugin")"
done
cp "$(dirname "$0")/../../LICENSE" "$root/usr/share/doc/berth/LICENSE"

# --- Its libraries ------------------------------------------------------------------------------
interpreter=$(readelf -lW "$program" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')

files=()
# take <path> [<path in the image>]: the file that the path leads to.
take() {
  local to=$root${2:-$1}
  mkdir -p "$(dirname "$to")"
  cp -L "$1" "$to"
  files+=("$(readlink -f "$1")")
}
needed() { readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# The loader, where the program looks for it; /lib and /lib64 lead to /usr.
take "$system$interpreter" "/usr$interpreter"
chmod 755 "$root/usr$interpreter"
mapfile -t queue < <(needed "$program"; for plugin in "${plugins[@]}"; do needed "$plugin"; done)
declare -A taken=(["$(basename "$interpreter")"]=1)
while [ ${#queue[@]} -gt 0 ]; do
  library=${queue[0]}
  queue=("${queue[@]:1}")
  [ -z "${taken[$library]:-}" ] || continue
  taken[$library]=1
  # A folder that the loader knows without ld.so.cache.
  path=$system/usr/lib/$triplet/$library
  [ -e "$path" ] || die "there is no $library for $architecture"
  take "$path" "/usr/lib/$triplet/$library"
  chmod 644 "$root/usr/lib/$triplet/$library"
  mapfile -t -O ${#queue[@]} queue < <(needed "$path")
done

# --- What programs ask a system for -------------------------------------------------------------
cat >"$root/etc/passwd" <<'END'
root:x:0:0:root:/root:/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin
berth:x:65532:65532:berth:/nonexistent:/sbin/nologin
END
cat >"$root/etc/group" <<'END'
root:x:0:
nogroup:x:65534:
berth:x:65532:
END
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"

# Mozilla's, out of the package: this machine's own bundle may hold more.
for certificate in "$system"/usr/share/ca-certificates/mozilla/*.crt; do cat "$certificate"; done \
  >"$root/etc/ssl/certs/ca-certificates.crt"
[ -s "$root/etc/ssl/certs/ca-certificates.crt" ] || die "package ca-certificates is not installed"
ln -s ../../../etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem"

# Scanners take from these which Debian it is, and so which advisories concern it.
cp -L "$system/etc/os-release" "$root/usr/lib/os-release"
ln -s ../usr/lib/os-release "$root/etc/os-release"
cp "$system/etc/debian_version" "$root/etc/debian_version"

# --- Which packages, under which licences -------------------------------------------------------
# dpkg knows some files by their path of before the merge of /lib into /usr/lib.
declare -A owner_of=()
while IFS= read -r line; do
  path=${line##*: }
  owner_of[${path#/usr}]=${line%%[:,]*}
done < <(dpkg-query -S "${files[@]}" "${files[@]#/usr}" 2>/dev/null)
packages=()
for file in "${files[@]}"; do
  packages+=("${owner_of[${file#/usr}]:?no package has $file}")
done
mapfile -t packages < <(printf '%s\n' "${packages[@]}" | sort -u)
data=(base-files ca-certificates)
for package in "${packages[@]}" "${data[@]}" "${header_only[@]}"; do
  copyright=$system/usr/share/doc/$package/copyright
  [ -e "$copyright" ] || die "package $package has no licence at $copyright"
  mkdir -p "$root/usr/share/doc/$package"
  cp -L "$copyright" "$root/usr/share/doc/$package/copyright"
done
mkdir -p "$root/usr/share/common-licenses"
for licence in "$system"/usr/share/common-licenses/*; do
  cp -P "$licence" "$root/usr/share/common-licenses/"
done
# describe <package> <folder>: into a file of its own, as Debian's images without dpkg have it.
describe() {
  dpkg-query -W -f='Package: ${Package}\nVersion: ${Version}\nArchitecture: ${Architecture}\nMaintainer: ${Maintainer}\nSource: ${source:Package} (${source:Version})\nStatus: ${Status}\nDescription: ${binary:Summary}\n' \
    "$1" >"$2/${1%:*}"
}
for package in "${packages[@]/%/:$architecture}" "${data[@]}"; do describe "$package" "$root/var/lib/dpkg/status.d"; done
mkdir "$root/usr/share/doc/berth/compiled-in"
for package in "${header_only[@]}"; do describe "$package" "$root/usr/share/doc/berth/compiled-in"; done
