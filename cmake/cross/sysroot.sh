#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the folder that a program for arm64 is compiled, linked and run with on a machine of another processor: what
# Debian's arm64 packages hold, and a database of dpkg that names the package of each file. Packages are those of the
# machine's own sources, with all that they depend on. Nothing else of the machine changes, so root is not needed.
#
# Usage: sysroot.sh [--renew] <folder> <package>...
#   Without --renew a folder that was made of these packages stays as it is. <folder>/packages has their versions.
set -euo pipefail
export LC_ALL=C
umask 022
renew=""
[ "${1:-}" != --renew ] || { renew=1; shift; }
folder=$(realpath -m "$1")
shift
architecture=arm64

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
# What a change of this script or of the list makes another folder.
made_by=$(cat "$0" - <<<"$*" | sha256sum | cut -c1-16)
if [ -z "$renew" ] && [ "$(cat "$folder/made_by" 2>/dev/null)" = "$made_by" ]; then exit; fi
printf '== Debian packages for %s, into %s\n' "$architecture" "$folder" >&2

work=$folder.partial
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$work"/{lists,archives}/partial "$root/usr/lib"
: >"$work/status"

# --- Which packages -----------------------------------------------------------------------------
# A state of apt's own, where nothing is installed yet: so everything that is needed is fetched. Hooks of the machine
# are for its own packages.
cat >"$work/apt.conf" <<END
#clear APT::Architectures;
#clear APT::Update;
#clear DPkg;
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
END
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }
quietly apt-get --config-file "$work/apt.conf" update
quietly apt-get --config-file "$work/apt.conf" install --yes --download-only "$@"

# --- Their files --------------------------------------------------------------------------------
# As on a system where /lib is a part of /usr; dpkg knows some files by their path of before.
for merged in bin lib sbin; do
  mkdir -p "$root/usr/$merged"
  ln -s "usr/$merged" "$root/$merged"
done
database=$root/var/lib/dpkg
for deb in "$work"/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar --extract --directory "$root" --keep-directory-symlink --no-same-owner
done
# Programs of it are not run, and what a system writes to is that of the machine.
(cd "$root" && rm -rf bin boot dev home media mnt opt proc root run sbin srv sys tmp usr/bin usr/games usr/sbin var)
# Links from the root of that system lead out of it.
while IFS= read -r -d '' link; do
  target=$(readlink "$link")
  ln -sfnr "$root$target" "$link"
done < <(find "$root" -type l -lname '/*' -print0)

# --- Which package has which file ---------------------------------------------------------------
# Files are named by where they are here: dpkg-query and dpkg-shlibdeps, with DPKG_ADMINDIR, find them so.
mkdir -p "$database"/{info,updates,triggers}
echo 1 >"$database/info/format"
printf '%s\n' "$(dpkg --print-architecture)" "$architecture" >"$database/arch"
for deb in "$work"/archives/*.deb; do
  control=$(dpkg-deb --field "$deb")
  name=$(sed -n 's/^Package: //p' <<<"$control")
  printf '%s=%s\n' "$name" "$(sed -n 's/^Version: //p' <<<"$control")" >>"$work/packages"
  printf '%s\nStatus: install ok installed\n\n' "$control" >>"$database/status"
  if grep -q '^Multi-Arch: same' <<<"$control"; then name=$name:$architecture; fi
  dpkg-deb --fsys-tarfile "$deb" | tar --list --quoting-style=literal |
    sed -e 's,^\./,/,' -e 's,/$,,' -e 's,^/\(bin\|lib\|sbin\)/,/usr/\1/,' -e "s,^,$folder," >"$database/info/$name.list"
  dpkg-deb --control "$deb" "$work/control"
  for file in shlibs symbols; do
    [ ! -e "$work/control/$file" ] || mv "$work/control/$file" "$database/info/$name.$file"
  done
  rm -rf "$work/control"
done
sort "$work/packages" >"$root/packages"
echo "$made_by" >"$root/made_by"
rm -rf "$folder"
mv "$root" "$folder"
