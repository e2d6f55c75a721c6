#!/bin/bash
# Tests the packages in a folder: lintian, then in a fresh Debian: installs them, lets the daemon work
# as its unit says, and purges them. test.sh FOLDER. Needs root, lintian, mmdebstrap and a mirror.
set -euo pipefail

packages=$(realpath "$1")
root=$(mktemp -d)
cleanup() {
  [ ! -e "$root/daemon.pid" ] || kill -KILL "$(cat "$root/daemon.pid")" 2>/dev/null || true
  mountpoint -q "$root/proc" && umount "$root/proc"
  rm -rf "$root"
}
trap cleanup EXIT
step() { echo "package: $*"; }
fail() {
  echo "package: FAILED: $*" >&2
  exit 1
}
inside() { chroot "$root" "$@"; }
# As the unit runs it: this user, no way to more rights, its folders.
as_unit=(chroot "$root" setpriv --reuid=tarn --regid=tarn --init-groups --no-new-privs
  --bounding-set=-all --inh-caps=-all
  env -i PATH=/usr/bin STATE_DIRECTORY=/var/lib/tarn RUNTIME_DIRECTORY=/run/tarn)

step "lintian"
lintian --fail-on error "$packages"/tarn*.deb

step "a fresh Debian"
. /etc/os-release
mmdebstrap --quiet --variant=apt --include=ca-certificates "$VERSION_CODENAME" "$root"
mount -t proc proc "$root/proc"
find "$root" -xdev | sort >"$packages/before.txt"

step "installed"
cp "$packages"/tarn*.deb "$root/tmp/"
inside sh -c 'apt-get update --quiet && cd /tmp && apt-get install --yes --quiet --no-install-recommends ./tarn*.deb' \
  >"$packages/install.log" 2>&1 || { tail "$packages/install.log"; fail "it does not install"; }
rm "$root"/tmp/tarn*.deb
inside tarn --version
inside tarn-stress --seed 1 --seconds 2
# It fails, so its status is not that of the pipe.
{ inside tarn server init 'postgresql:///x?host=/nowhere' 2>&1 || true; } | grep -q 'cannot connect' \
  || fail "tarn-sync"
cp "$(dirname "$0")/../../Tests/RealmFixtures/Files/tiny.realm" "$root/tmp/"
inside tarn import /tmp/tiny.realm /tmp/tiny.tarn | grep -q '1 class, 3 objects' || fail "tarn-import"
rm "$root"/tmp/tiny.*
size=$(stat --format=%s "$root"/usr/bin/tarn "$root"/usr/bin/tarn-stress "$root"/usr/lib/tarn/tarn-import \
  "$root"/usr/lib/tarn/tarn-daemon "$root"/usr/lib/tarn/tarn-sync "$root"/usr/lib/tarn/libtarn.so | awk '{ sum += $1 } END { print sum }')
step "own code: $((size / 1000)) kB"
[ "$size" -le 25000000 ] || fail "more than 25 MB"
for page in "$root"/usr/share/man/man[15]/tarn*; do
  zcat "$page" | grep -q '^\.TH' || fail "$page is no manual page"
done

step "the units"
# The programs that the units name are looked for in this root.
for unit in tarn.service tarn@shop.service tarn.socket tarn-backup@shop.service \
  tarn-backup@shop.timer; do
  systemd-analyze verify --root="$root" --man=no --recursive-errors=no \
    "/usr/lib/systemd/system/$unit" || fail "$unit"
done
for unit in tarn.service tarn-backup@.service; do
  systemd-analyze security --offline=yes --threshold=40 "$root/usr/lib/systemd/system/$unit" \
    | tail -n 1
done

step "the daemon works"
printf '%s\n' 'name: shop' 'http: {listen: /run/tarn/http.sock}' 'watches:' \
  '  - name: orders' '    file: /var/lib/tarn/orders.tarn' '    class: Order' \
  '    sinks: [{file: /var/lib/tarn/orders.jsonl}]' >"$root/etc/tarn/watch.d/shop.yaml"
for folder in /var/lib/tarn /run/tarn; do
  inside install -d -o tarn -g tarn -m 0700 "$folder"
done
"${as_unit[@]}" /usr/bin/tarn daemon run 2>"$packages/daemon.log" &
echo $! >"$root/daemon.pid"
order() {
  echo "{\"id\":$1,\"item\":\"tea\"}" \
    | "${as_unit[@]}" tarn import /var/lib/tarn/orders.tarn - -c Order -f jsonl -k id
}
await() {
  for _ in $(seq 300); do
    ! grep -qs "$1" "$root/var/lib/tarn/orders.jsonl" || return 0
    sleep 0.1
  done
  cat "$packages/daemon.log" >&2
  fail "'$1' was not delivered"
}
order 1
await '"id":1'
order 2
await '"id":2'
"${as_unit[@]}" tarn daemon status
"${as_unit[@]}" tarn daemon reload
kill -TERM "$(cat "$root/daemon.pid")"
wait "$(cat "$root/daemon.pid")" || fail "the daemon ended with status $?"
rm "$root/daemon.pid"

step "a backup"
inside install -d -o tarn -g tarn -m 0700 /var/backups/tarn/orders
command=$(sed -n 's/^ExecStart=//p' "$root/usr/lib/systemd/system/tarn-backup@.service")
settings=$(sed -n 's/^Environment=//p' "$root/usr/lib/systemd/system/tarn-backup@.service")
# shellcheck disable=SC2086
"${as_unit[@]}" ${settings//%i/orders} sh -c "$command"
[ "$(find "$root/var/backups/tarn/orders" -name 'orders-*Z.tarn' | wc -l)" = 1 ] || fail "no backup"
rm -rf "$root/var/backups/tarn"

step "purged"
rm "$root/etc/tarn/watch.d/shop.yaml"
inside env DEBIAN_FRONTEND=noninteractive apt-get purge --yes --quiet 'tarn*' >"$packages/purge.log" 2>&1 \
  || fail "purge"
[ -s "$root/var/lib/tarn/orders.tarn" ] || fail "the purge deleted a store"
[ ! -e "$root/var/lib/tarn/positions" ] || fail "the purge left positions"
grep -q 'files in /var/lib/tarn are kept' "$packages/purge.log" || fail "the purge does not say what it keeps"
rm -rf "$root/run/tarn" "$root/var/lib/tarn"
find "$root" -xdev | sort >"$packages/after.txt"
left=$(comm -13 "$packages/before.txt" "$packages/after.txt" | grep -F tarn || true)
[ -z "$left" ] || fail "left behind: $left"
echo "package: passed"
