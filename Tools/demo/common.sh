#!/bin/bash
# What the demonstrations share: an own folder with a store of packages, and how commands are shown.
# They set `tarn`, the path of the program.
database=/var/lib/dpkg/status
folder=$(mktemp -d "${TMPDIR:-/tmp}/tarn-demo-XXXXXX")
store=$folder/packages.realm
child=
finish() {
  if [ -n "$child" ]; then kill "$child" 2>/dev/null || true; fi
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

# Ends the background process, which must end well.
end_child() {
  local code=0
  kill -TERM "$child"
  wait "$child" || code=$?
  child=
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

# Imports the packages. Then `filter` is a condition that some eight of them meet, whatever this
# machine has installed.
import_packages() {
  show "import packages.realm $database --format debian --class Package --key name"
  "$tarn" import "$store" "$database" --format debian --class Package --key name --on-error ignore
  local sizes
  sizes=$("$tarn" export "$store" Package --sort installedSize:desc |
    grep -oE '"installedSize":[0-9]+' | cut -d: -f2)
  largest=$(sed -n 1p <<<"$sizes")
  middle=$(sed -n 4p <<<"$sizes")
  limit=$(($(sed -n 8p <<<"$sizes") - 1))
  filter="installedSize > $limit"
}
kind='"version":"1.0","architecture":"all","section":"demo"'
