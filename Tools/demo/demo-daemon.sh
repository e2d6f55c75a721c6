#!/bin/bash
# Shows the daemon: it hands the changes that a watch selects to a script.
#
# Usage: demo-daemon.sh path/to/tarn, beside which tarn-daemon is. Leaves nothing behind.
set -euo pipefail
tarn=$1
. "$(dirname "$0")/common.sh"

say "1  One process imports $database"
import_packages

say "2  A daemon hands changes to a script"
printf '#!/bin/sh\ncat >>%s/handed\n' "$folder" >"$folder/hand-over"
chmod 755 "$folder/hand-over"
cat >"$folder/demo.yaml" <<END
state: $folder/state
watches:
  - name: large
    file: $store
    class: Package
    where: $filter
    columns: [installedSize]
    start: newest
    sinks: [{exec: [$folder/hand-over]}]
END
: >"$folder/handed"
show "daemon --config demo.yaml"
sed "s|$folder/||; s/^/  /" "$folder/demo.yaml"
"$tarn" daemon --config "$folder/demo.yaml" 2>"$folder/log" &
child=$!
# Waits, for at most ten seconds, until a file has that many lines with that text.
await_lines() {
  local try
  for try in $(seq 200); do
    [ "$(grep -c "$2" "$1" || true)" -lt "$3" ] || return 0
    sleep 0.05
  done
  fail "the daemon does not go on: $(tail -n 1 "$folder/log")"
}
await_lines "$folder/log" "watches stand" 1
handed=0
hand_over() {
  printf '%s\n' "$1"
  shift
  "$@" >/dev/null
  handed=$((handed + 1))
  await_lines "$folder/handed" version "$handed"
  sed -nE "$handed s/.*(\"(inserted|modified|entered|left|deleted)\".*)}\$/$cyan│$plain {… \1}/p" \
    "$folder/handed"
  pause 2
}
hand_over "A package is added:" \
  update "{\"name\":\"tarn-demo-c\",\"installedSize\":$((limit + 1)),$kind}"
hand_over "It shrinks below the limit:" \
  change "name == 'tarn-demo-c'" "installedSize=1"
end_child daemon

say "Shown: $handed commits by $handed processes, $handed changes handed to a script."
