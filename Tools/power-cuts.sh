#!/bin/bash
# Cuts file systems off from their disk while stores are created and written in them, and checks what
# is there after they are mounted again. Needs root and loop devices.
#
# Usage: power-cuts.sh PROGRAMS ROUNDS [SYSTEM...]
#
# ext4 and XFS are shut down without flushing their log, as by the loss of the disk. btrfs has no such
# call: the file behind its loop device is cloned at one moment, by an XFS with shared blocks.
set -euo pipefail

# In mounts of its own: a process elsewhere that copies its mounts meanwhile, such as a container that
# starts, would keep a file system alive that was shut down.
if [ -z "${TARN_CUTS_MOUNTS:-}" ]; then
  TARN_CUTS_MOUNTS=own exec unshare --mount --propagation private "$0" "$@"
fi

programs=$(realpath "$1")
rounds=$2
shift 2
systems=${*:-ext4 xfs btrfs}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/tarn-cuts.XXXXXX")
place=$work/place
base=$work/base
mkdir "$place" "$base"

unmount() { if mountpoint -q "$1"; then umount "$1"; fi; }
cleanup() {
  [ -z "${writer:-}" ] || kill -KILL "$writer" 2>/dev/null || true
  unmount "$place"
  unmount "$base"
  rm -rf "$work"
}
trap cleanup EXIT
stress() { "$programs/tarn-stress" worker "$@"; }
faults=0
fault() {
  echo "FAULT $system, round $round: $*"
  faults=$((faults + 1))
}

# XFS_IOC_GOINGDOWN, which ext4 has, too, with the flag for "do not flush the log".
shut_down() {
  python3 -c 'import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack("I", 2))' "$place"
}

# The last commit that the writer has acknowledged. Its last line may be incomplete.
acknowledged() {
  awk '$1 == "ack" || $1 == "start" { last = $2 } END { print last + 0 }' \
    <(grep -aE '^(ack|start) [0-9]+$' "$work/said" || true)
}

# Ends the writer and leaves the file system as it was at one moment; prints what had been
# acknowledged before.
cut() {
  if [ "$system" = btrfs ]; then
    local before
    before=$(acknowledged)
    cp --reflink=always "$image" "$image.cut"
    stop_writer
    umount "$place"
    btrfs device scan --forget >/dev/null
    mv "$image.cut" "$image"
    told=$before
  else
    shut_down
    stop_writer
    told=$(acknowledged)
    umount "$place"
  fi
  mount -o loop "$image" "$place"
}

stop_writer() {
  [ -n "$writer" ] || return 0
  kill -KILL "$writer" 2>/dev/null || true
  wait "$writer" 2>/dev/null || true
  writer=
}

check() {
  [ "$(stress check "$1" 2>&1 | tail -1)" = sound ] || fault "$(basename "$1") is not sound"
  "$programs/tarn" inspect --check "$1" >"$work/inspected" 2>&1 \
    || fault "$(basename "$1"): $(tail -3 "$work/inspected")"
}

# A pause of up to half a second.
pause() { sleep "0.$(printf %03d $((RANDOM % 500)))"; }

write_round() {
  local file=$place/x.realm found
  # Not by the function: the process that is killed must be the writer.
  "$programs/tarn-stress" worker write "$file" 1 "$round" >"$work/said" 2>"$work/errors" &
  writer=$!
  pause
  cut
  touch "$file.stop"
  found=$(stress write "$file" 1 2>&1 | awk '$1 == "start" { print $2 }')
  rm "$file.stop"
  if [ -z "$found" ]; then
    fault "the store does not open"
  elif [ "$found" -lt "$told" ]; then
    fault "commit $told was acknowledged, the file has $found"
  fi
  commits=$told
  check "$file"
}

# The name of a new store is durable when it has its first commit.
create_round() {
  local file=$place/$round.realm
  touch "$file.durable"
  sync -f "$place"
  : >"$work/said"
  stress fill "$file" 1
  cut
  if [ -e "$file" ]; then check "$file"; else fault "the new store is missing"; fi
  rm -f "$file"*
}

for system in $systems; do
  image=$work/$system.img
  writer=
  commits=0
  round=0
  if [ "$system" = btrfs ]; then
    truncate -s 2G "$work/base.img"
    mkfs.xfs -q -m reflink=1 "$work/base.img"
    mount -o loop "$work/base.img" "$base"
    image=$base/btrfs.img
  fi
  truncate -s 512M "$image"
  case $system in
    ext4) mkfs.ext4 -q "$image" ;;
    xfs) mkfs.xfs -q "$image" ;;
    btrfs) mkfs.btrfs -q "$image" >/dev/null ;;
  esac
  mount -o loop "$image" "$place"
  stress fill "$place/x.realm" 1
  sync -f "$place"
  while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    if [ $((round % 4)) -eq 0 ]; then create_round; else write_round; fi
  done
  umount "$place"
  rm "$image"
  unmount "$base"
  echo "$system: $rounds cuts, $commits commits acknowledged"
done
if [ "$faults" -gt 0 ]; then
  echo "$faults faults"
  exit 1
fi
echo "no faults"
