#!/bin/bash
# Shows the main job on real data: three processes share one file.
#
#   1 imports this machine's package database into a store
#   2 watches the large packages, sorted by size, and prints every difference
#   3 changes, adds and removes packages meanwhile, each step a process of its own
#
# Usage: demo.sh path/to/tarn. Leaves nothing behind.
set -euo pipefail

tarn=$1
database=/var/lib/dpkg/status
folder=$(mktemp -d)
store=$folder/packages.realm
watcher=
finish() {
  if [ -n "$watcher" ]; then kill "$watcher" 2>/dev/null || true; fi
  wait
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

bold= dim= plain=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
fi
say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
show() { printf '%s$ tarn %s%s\n' "$dim" "$*" "$plain"; }

# Time for a person to read; none where nobody looks.
pause() { if [ -t 1 ]; then sleep 1.5; else sleep 0.2; fi; }

# Waits until the watcher's output holds so many lines that match, for ten seconds at most.
await() {
  local pattern=$1 count=$2 tries=0
  until [ "$(grep -cE "$pattern" "$folder/watched")" -ge "$count" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 200 ]; then
      echo "demo: the watcher did not show what was expected" >&2
      exit 1
    fi
    sleep 0.05
  done
}

# Runs a step in a process of its own and waits until the watcher has told about it.
steps=0
step() {
  say "$1"
  shift
  pause
  "$@"
  steps=$((steps + 1))
  await '"deletions"' "$steps"
  tail -n 1 "$folder/watched"
}

update() {
  show "import packages.realm - --class Package --key name --update <<< '$1'"
  "$tarn" import "$store" - --format jsonl --class Package --key name --update <<<"$1" >/dev/null
}

remove() {
  show "delete packages.realm Package --where \"$1\""
  "$tarn" delete "$store" Package --where "$1" >/dev/null
}

say "1  One process imports $database"
show "import packages.realm $database --format debian --class Package --key name"
"$tarn" import "$store" "$database" --format debian --class Package --key name
"$tarn" inspect "$store"

filter='installedSize > 100000'
say "2  A second process watches: Package where $filter, sorted by installedSize"
show "watch packages.realm Package --where '$filter' --sort installedSize --json"
"$tarn" watch "$store" Package --where "$filter" --sort installedSize --json \
  >"$folder/watched" &
watcher=$!
await '"initial"' 1
head -c 400 "$folder/watched"
echo

say "3  Other processes write, and the watcher tells the difference"
large='"version":"1.0","architecture":"all","section":"demo"'
step "a package appears" \
  update "{\"name\":\"tarn-demo\",\"installedSize\":150000,$large}"
step "it grows" \
  update "{\"name\":\"tarn-demo\",\"installedSize\":950000,$large}"
step "it shrinks below the limit, so it leaves the view although it stays in the file" \
  update "{\"name\":\"tarn-demo\",\"installedSize\":1000,$large}"
step "two packages appear in one commit" \
  update "{\"name\":\"tarn-demo-a\",\"installedSize\":200000,$large}
{\"name\":\"tarn-demo-b\",\"installedSize\":300000,$large}"
step "both are removed" remove "name BEGINSWITH 'tarn-demo-'"

kill -TERM "$watcher"
wait "$watcher"
watcher=
say "Done: one store, $steps commits by $steps processes, $steps exact differences in another."
