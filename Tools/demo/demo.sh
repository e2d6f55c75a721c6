#!/bin/bash
# Shows the main use on real data: three processes share one file.
#
#   1 imports this machine's package database into a store
#   2 watches the largest packages, sorted by size, and prints every change
#   3 meanwhile changes, adds and removes packages, each step in a separate process
#
# Then a daemon hands changes to a script.
#
# Usage: demo.sh path/to/tarn, beside which tarn-daemon is. Leaves nothing behind.
set -euo pipefail

tarn=$1
database=/var/lib/dpkg/status
folder=$(mktemp -d "${TMPDIR:-/tmp}/tarn-demo-XXXXXX")
store=$folder/packages.realm
watched=$folder/watched
watcher=
daemon=
finish() {
  if [ -n "$watcher" ]; then kill "$watcher" 2>/dev/null || true; fi
  if [ -n "$daemon" ]; then kill "$daemon" 2>/dev/null || true; fi
  wait
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

bold= dim= cyan= plain= color=never
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$'\e[1m' dim=$'\e[2m' cyan=$'\e[36m' plain=$'\e[0m' color=always
fi
columns=100
if [ -t 1 ]; then columns=$(stty size 2>/dev/null | cut -d' ' -f2 || true); fi
if [ "${columns:-0}" -lt 40 ]; then columns=100; fi
say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# Commands are shown even if their output is not.
exec 3>&1
show() { printf '%s$ tarn %s%s\n' "$dim" "$*" "$plain" >&3; }
fail() {
  echo "demo: $1" >&2
  exit 1
}

# Ends a background process, which must end well.
end_child() {
  local code=0
  kill -TERM "$2"
  wait "$2" || code=$?
  [ "$code" = 0 ] || fail "the $1 ended with status $code"
}

# Time for a person to read; none without a terminal.
pause() { if [ -t 1 ]; then sleep "$1"; fi; }

# Without Debian's database: a few packages of our own.
sample() {
  local name size
  while read -r name size; do
    printf 'Package: %s\nStatus: install ok installed\nInstalled-Size: %s\n' "$name" "$size"
    printf 'Architecture: all\nVersion: 1.0-1\nSection: sample\nDescription: a sample\n\n'
  done <<<"swift-toolchain 2400000
llvm 310000
gcc 92000
git 46000
vim 3800
bash 7200
coreutils 18000
tar 3100
curl 500
lmdb 120
make 1900
perl 670"
}

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
    kill -0 "$watcher" 2>/dev/null || fail "the watcher ended too early"
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

update() {
  show "import packages.realm - --class Package --update --defaults <<< '${1/$'\n'/ …}'"
  "$tarn" import "$store" - --format jsonl --class Package --update --defaults <<<"$1"
}
remove() {
  show "delete packages.realm Package --where \"$1\""
  "$tarn" delete "$store" Package --where "$1"
}
change() {
  show "set packages.realm Package --where \"$1\" $2"
  "$tarn" set "$store" Package --where "$1" "$2"
}
if [ ! -r "$database" ]; then
  database=$folder/status
  sample >"$database"
fi

say "1  One process imports $database"
show "import packages.realm $database --format debian --class Package --key name"
"$tarn" import "$store" "$database" --format debian --class Package --key name --on-error ignore
show "inspect packages.realm"
"$tarn" inspect "$store" | sed -n '2p;5,6p;10p'
pause 1.5

# A limit that some eight packages exceed, whatever this machine has installed.
sizes=$("$tarn" export "$store" Package --sort installedSize:desc |
  grep -oE '"installedSize":[0-9]+' | cut -d: -f2)
largest=$(sed -n 1p <<<"$sizes")
middle=$(sed -n 4p <<<"$sizes")
limit=$(($(sed -n 8p <<<"$sizes") - 1))
filter="installedSize > $limit"

say "2  A second process watches the packages larger than $limit KiB, sorted by size"
show "watch packages.realm Package --where '$filter' --sort installedSize"
COLUMNS=$((columns - 2)) "$tarn" watch "$store" Package --where "$filter" --sort installedSize \
  --color "$color" >"$watched" &
watcher=$!
: >>"$watched"
await
pause 2

say "3  Other processes write, and the watcher prints each change"
kind='"version":"1.0","architecture":"all","section":"demo"'
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

end_child watcher "$watcher"
watcher=

say "4  The file afterwards"
show "inspect packages.realm --check"
"$tarn" inspect "$store" --check | tail -n 1

say "5  A daemon hands changes to a script"
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
daemon=$!
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
end_child daemon "$daemon"
daemon=

say "Shown: one file, $steps commits by $steps processes, $steps exact changes in another;"
echo "$handed changes handed to a script."
