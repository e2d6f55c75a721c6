#!/bin/bash
# Two stores that meet in a PostgreSQL server of this demo's own: a first copy, work without the
# server, the same objects again on both, and a change by SQL.
#
# Usage: demo-sync.sh path/to/tarn, beside which tarn-sync is. Leaves nothing behind.
set -euo pipefail
tarn=$(realpath "$1")
folder=$(mktemp -d /tmp/tarn-demo-sync-XXXXXX)
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
as_server=()
if [ "$(id -u)" = 0 ]; then
  # The server refuses to run as root.
  as_server=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  chown postgres "$folder"
fi
mkdir "$folder/stores"
server=

start_server() {
  "${as_server[@]}" "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -s -w \
    -o "-k $folder -c listen_addresses= -c fsync=off" start
  server=running
}

stop_server() {
  "${as_server[@]}" "$bin/pg_ctl" -D "$folder/data" -s -m fast stop
  server=
}

cleanup() {
  [ -z "$server" ] || stop_server
  rm -rf "$folder"
}
trap cleanup EXIT
cd /

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
  printf '$ tarn'
  printf ' %q' "$@"
  echo
  "$tarn" "$@"
}
sql() {
  echo "# $1"
  psql -q -h "$folder" -U demo postgres -c "$1"
}

say "A PostgreSQL server, prepared for stores that meet there"
"${as_server[@]}" "$bin/initdb" -D "$folder/data" -A trust -U demo -E UTF8 --locale=C --no-sync \
  >"$folder/initdb.log"
start_server
url="postgresql://demo@/postgres?host=$folder"
cd "$folder/stores"
printf 'name,done,minutes\nbuy bread,false,15\nwrite to Ada,false,30\nmend the bicycle,false,90\n' \
  >todo.csv
run import laptop todo.csv --class Todo --key name
run server init "$url"
run server migrate "$url" laptop

say "The laptop sends its objects, and a phone gets them"
run sync laptop --to "$url"
run sync phone --to "$url"
run query phone Todo

say "Both work while the server is away"
stop_server
run set laptop Todo --where 'name == "buy bread"' minutes=20
run set phone Todo --where 'name == "buy bread"' done=true
run delete phone Todo --where 'name == "write to Ada"'
run sync status phone

say "The server is back: each change arrives, property by property"
start_server
run sync laptop --to "$url"
run sync phone --to "$url"
run sync laptop --to "$url"
run query laptop Todo
run query phone Todo

say "SQL programs read and write the same objects"
sql "UPDATE \"Todo\" SET minutes = minutes + 5; SELECT name, done, minutes FROM \"Todo\""
run sync phone --to "$url"
run query phone Todo
run server status "$url"
