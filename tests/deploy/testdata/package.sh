#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs a .deb, runs its unit's command until a line comes in, purges it and prints what it leaves. Needs root and
# a mount namespace of its own: all changes go to a layer above this machine's folders, which ends with it.
#
# Usage: unshare --mount package.sh <deb> <kubeconfig> <port> <empty folder>
set -euo pipefail
deb=$1 kubeconfig=$2 port=$3 scratch=$4
user=61184 # as DynamicUser= draws them
mount --make-rprivate /
mount -t tmpfs tmpfs "$scratch"
mkdir "$scratch/machine"
mount --bind / "$scratch/machine" # as it is below the layer
for folder in etc usr var; do
  mkdir -p "$scratch/$folder/changed" "$scratch/$folder/work"
  mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$scratch/$folder/changed,workdir=$scratch/$folder/work" "/$folder"
done
mount -t tmpfs tmpfs /run

dpkg --install "$deb" >&2
berth version >&2
if command -v man >/dev/null; then man --warnings -l /usr/share/man/man1/berth.1.gz >/dev/null; fi
bash -n /usr/share/bash-completion/completions/berth

# What systemd makes of the unit: its environment, the credential, the command under another user.
install -m 600 "$kubeconfig" /etc/berth/kubeconfig
export CREDENTIALS_DIRECTORY=/run/credentials/berth.service
grep -q '^LoadCredential=kubeconfig:/etc/berth/kubeconfig$' /lib/systemd/system/berth.service
install -d "$CREDENTIALS_DIRECTORY"
install -o "$user" -m 400 /etc/berth/kubeconfig "$CREDENTIALS_DIRECTORY/kubeconfig"
echo "BERTH_FLAGS=\"--v=2 --secure-port=$port\"" >>/etc/default/berth
grep -q '^EnvironmentFile=-/etc/default/berth$' /lib/systemd/system/berth.service
set -a
# shellcheck source=/dev/null
. /etc/default/berth
set +a
eval "set -- $(sed -n 's/^ExecStart=//p' /lib/systemd/system/berth.service)"
setpriv --reuid "$user" --regid "$user" --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs "$@" >&2 &
read -r _
kill -TERM $!
wait $!

rm /etc/berth/kubeconfig
dpkg --purge berth >&2
# dpkg's own books, and the indexes that other packages keep of manual pages.
for folder in etc usr var; do
  (cd "$scratch/$folder/changed" && find . -mindepth 1 -printf "$folder/%P\n")
done | grep -vE '^var/(lib/dpkg|log|cache/man)(/|$)' | while read -r path; do
  if [ ! -d "/$path" ] || [ ! -e "$scratch/machine/$path" ]; then echo "$path"; fi
done
