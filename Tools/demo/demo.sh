#!/bin/bash
# Shows the main use on real data: three processes share one file.
#
#   1 imports this machine's package database into a store
#   2 watches the largest packages, sorted by size, and prints every change
#   3 meanwhile changes, adds and removes packages, each step in a separate process
#
# Usage: demo.sh path/to/tarn. Leaves nothing behind.
set -euo pipefail
tarn=$1
. "$(dirname "$0")/common.sh"
watched=$folder/watched

# Shows what the watcher has written since the last call, behind a bar.
lines=0
told() {
  local all
  all=$(wc -l <"$watched")
  sed -n "$((lines + 1)),${all}p" "$watched" | sed "s/^/$cyan│$plain /"
  lines=$all
}

# Waits, for at most ten seconds, until the watcher has printed that many states and changes.
heads=0
await() {
  local tries=0
  heads=$((heads + 1))
  until [ "$(grep -c 'version [0-9]*.*Package' "$watched" || true)" -ge "$heads" ]; do
    tries=$((tries + 1))
    [ "$tries" -le 500 ] || fail "the watcher did not show what was expected"
    kill -0 "$child" 2>/dev/null || fail "the watcher ended too early"
    sleep 0.02
  done
  told
}

# Runs a step in a separate process and waits until the watcher has printed its change.
steps=0
step() {
  printf '\n%s\n' "$1"
  shift
  pause 1
  "$@" >/dev/null
  steps=$((steps + 1))
  await
  pause 0.8
}

say "1  One process imports $database"
import_packages
show "inspect packages.realm"
"$tarn" inspect "$store" | sed -n '2p;5,6p;10p'
pause 1.5

say "2  A second process watches the packages larger than $limit KiB, sorted by size"
show "watch packages.realm Package --where '$filter' --sort installedSize"
COLUMNS=$((columns - 2)) "$tarn" watch "$store" Package --where "$filter" --sort installedSize \
  --color "$color" >"$watched" &
child=$!
: >>"$watched"
await
pause 2

say "3  Other processes write, and the watcher prints each change"
step "A package is added:" \
  update "{\"name\":\"tarn-demo\",\"installedSize\":$((middle + 1)),$kind}"
step "It grows and moves to the end:" \
  change "name == 'tarn-demo'" "installedSize=$((largest + 1000))"
step "It gets a new version and keeps its position:" \
  change "name == 'tarn-demo'" "version=2.0"
step "It shrinks below the limit and leaves the result, but stays in the file:" \
  change "name == 'tarn-demo'" "installedSize=1"
step "Every package of the result gets another section, in one commit:" \
  change "$filter" "section=large"
step "Two packages are added, in one commit:" \
  update "{\"name\":\"tarn-demo-a\",\"installedSize\":$((limit + 1)),$kind}
{\"name\":\"tarn-demo-b\",\"installedSize\":$((largest + 1)),$kind}"
step "Both are removed:" \
  remove "name BEGINSWITH 'tarn-demo-'"

end_child watcher

say "4  The file afterwards"
show "inspect packages.realm --check"
"$tarn" inspect "$store" --check | tail -n 1

say "Shown: one file, $steps commits by $steps processes, $steps exact changes in another."
