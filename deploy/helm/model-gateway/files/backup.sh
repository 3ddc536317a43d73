#!/bin/sh
# backup.sh FOLDER KEEP: writes one archive of each database that a variable names, and keeps the newest KEEP of each.
# One archive is one snapshot: catalogue, keys, ledger, notices and workers fit each other.
set -eu
umask 027
folder=$1
keep=$2
seen=' '
part=''
trap 'rm -f "$part"' EXIT
for name in DATABASE_URL CATALOGUE_DATABASE_URL KEYS_DATABASE_URL USAGE_DATABASE_URL NOTIFICATIONS_DATABASE_URL WORKERS_DATABASE_URL; do
  url=$(printenv "$name" || true)
  [ -n "$url" ] || continue
  case "$seen" in *" $url "*) continue ;; esac
  seen="$seen$url "
  base=$(echo "${name%_URL}" | tr 'A-Z_' 'a-z-')
  part="$folder/.$base.part"
  pg_dump --format=custom --no-owner --no-privileges --lock-wait-timeout=30s --file="$part" --dbname="$url"
  # An archive that cannot be read replaces none.
  pg_restore --list "$part" >/dev/null
  sync
  mv "$part" "$folder/$base-$(date -u +%Y%m%dT%H%M%SZ).dump"
  ls -1 "$folder" | grep -E "^$base-[0-9TZ]+\.dump$" | sort -r | tail -n "+$((keep + 1))" | while read -r old; do
    rm -f "$folder/$old"
  done
  echo "backup of $base is written"
done
if [ "$seen" = ' ' ]; then
  echo 'no variable names a database' >&2
  exit 1
fi
