# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: Apache-2.0
# For the scripts that pack a program, sourced with its path in $program: what depends on the processor that it is for.
#   architecture   in Debian's words, such as arm64
#   triplet        in the compilers' words
#   system         the folder where files of its Debian packages are: this machine's root, which is empty here, or the one
#                  that sysroot.sh has made; dpkg-query then asks the database there
#   objcopy        which knows its files; OBJCOPY names another
#   run            the words before its name with which it runs here: none, or an emulator
# BERTH_SYSROOT names another folder than ./dev makes.
case $(readelf -hW "$program") in
  *X86-64*) architecture=amd64 triplet=x86_64-linux-gnu emulator=qemu-x86_64-static ;;
  *AArch64*) architecture=arm64 triplet=aarch64-linux-gnu emulator=qemu-aarch64-static ;;
  *) printf '%s is for no architecture that is known here\n' "$program" >&2; exit 1 ;;
esac
system="" objcopy=${OBJCOPY:-objcopy} run=()
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
  system=$(realpath -m "${BERTH_SYSROOT:-${BERTH_CACHE:-$HOME/.cache/berth}/$architecture}")
  [ -e "$system/made_by" ] || { printf '%s has no packages for %s: ./dev packages %s\n' "$system" "$architecture" "$architecture" >&2; exit 1; }
  export DPKG_ADMINDIR=$system/var/lib/dpkg
  objcopy=${OBJCOPY:-$triplet-objcopy} run=("$emulator" -L "$system")
fi
