#!/usr/bin/env bash
# restrict.sh REPOSITORY UID NAMED PROGRAM…: becomes the program as a pod under restricted Pod Security runs it: any user id of group
# 0, no capabilities, a read-only root with /tmp and the volumes below it, and of the repository what the image has. Run it by
# `unshare --mount`. NAMED=yes names the user in /etc/passwd, as CRI-O does and containerd does not.
set -euo pipefail
repository=$1 uid=$2 named=$3
shift 3
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /mnt
for part in dist node_modules deploy docs; do
  mkdir "/mnt/$part"
  mount --bind "$repository/$part" "/mnt/$part"
done
cp "$repository/package.json" /mnt/
if [ "$named" = yes ]; then
  { cat /etc/passwd; echo "$uid:x:$uid:0::/tmp:/sbin/nologin"; } >/mnt/passwd
  mount --bind /mnt/passwd /etc/passwd
fi
mount -o remount,ro /mnt
mount --bind /tmp /tmp
mount -o remount,bind,ro /
cd /mnt
exec setpriv --reuid="$uid" --regid=0 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
  "${@/#"$repository"//mnt}"
