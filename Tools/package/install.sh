#!/bin/bash
# Installs what was built: install.sh BUILD PREFIX DESTDIR [tools|daemon|sync|all]. 'daemon' and 'sync'
# are the programs that need more libraries than the tools do, except for tarn-import.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$work
prefix=$2
root=$3$2
parts=${4:-all}
here=$(dirname "$0")

for program in patchelf strip gzip; do
  command -v "$program" >/dev/null || { echo "install: '$program' is missing" >&2; exit 1; }
done

"$here/link.sh" "$1" "$work"
export LD_LIBRARY_PATH=$work

# Copies a program, which looks for the Swift runtime in that folder.
install_program() {
  install -D -m 755 "$1" "$2"
  patchelf --set-rpath "$3" "$2"
}

# Copies the libraries of the Swift toolchain that a program needs.
install_runtime() {
  local runtime name library
  runtime=$(swift -print-target-info | sed -n '/"runtimeLibraryPaths"/,/]/p' \
    | grep -o '"/[^"]*"' | tr -d '"' | head -n 1)
  [ -d "$runtime" ] || { echo "install: there is no Swift runtime" >&2; exit 1; }
  LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$runtime ldd "$1" | awk '{ print $3 }' | while read -r library; do
    [[ $library == "$runtime"/* ]] || continue
    name=$(basename "$library")
    [ ! -e "$root/lib/tarn/$name" ] || continue
    install -D -m 644 "$library" "$root/lib/tarn/$name"
    strip --strip-unneeded "$root/lib/tarn/$name"
    patchelf --set-rpath "\$ORIGIN" "$root/lib/tarn/$name"
  done
}

install_page() {
  mkdir -p "$root/share/man/man1"
  gzip -9n >"$root/share/man/man1/$1.1.gz"
}

install_tools() {
  local command
  install -D -m 644 "$build/libtarn.so" "$root/lib/tarn/libtarn.so"
  patchelf --set-rpath "\$ORIGIN" "$root/lib/tarn/libtarn.so"
  for command in tarn tarn-stress; do
    install_program "$build/$command" "$root/bin/$command" "\$ORIGIN/../lib/tarn"
    install_runtime "$build/$command"
  done
  # It is started by tarn, and reads Realm files.
  install_program "$build/tarn-import" "$root/lib/tarn/tarn-import" "\$ORIGIN"
  "$build/tarn" generate man | install_page tarn
  for command in $("$build/tarn" generate commands); do
    "$build/tarn" generate man "$command" | install_page "tarn-$command"
  done
  "$build/tarn-stress" --man | install_page tarn-stress
  mkdir -p "$root/share/bash-completion/completions" "$root/share/zsh/vendor-completions" \
    "$root/share/fish/vendor_completions.d"
  "$build/tarn" generate bash >"$root/share/bash-completion/completions/tarn"
  "$build/tarn" generate zsh >"$root/share/zsh/vendor-completions/_tarn"
  "$build/tarn" generate fish >"$root/share/fish/vendor_completions.d/tarn.fish"
}

# Writes a unit for one configuration file, or for the folder of configurations.
install_unit() {
  sed -e "s|@PREFIX@|$prefix|; s|@DESCRIPTION@|$2|; s|@CONFIG@|$3|; s|@FOLDER@|$4|; s|@UNIT@|$5|" \
    "$here/tarn.service.in" >"$root/lib/systemd/system/$1"
  chmod 644 "$root/lib/systemd/system/$1"
}

install_daemon() {
  local destination=$1
  install_program "$build/tarn-daemon" "$root/lib/tarn/tarn-daemon" "\$ORIGIN"
  mkdir -p "$root/lib/systemd/system"
  install_unit tarn.service "Tarn daemon" "" tarn "Wants=tarn.socket\nAfter=tarn.socket"
  install_unit tarn@.service "Tarn daemon for %i" " --config /etc/tarn/%i.yaml" tarn/%i \
    "ConditionPathExists=/etc/tarn/%i.yaml"
  install -m 644 "$here/tarn.socket" "$root/lib/systemd/system/tarn.socket"
  sed "s|@PREFIX@|$prefix|" "$here/tarn-backup.service.in" \
    >"$root/lib/systemd/system/tarn-backup@.service"
  chmod 644 "$root/lib/systemd/system/tarn-backup@.service"
  install -m 644 "$here/tarn-backup.timer" "$root/lib/systemd/system/tarn-backup@.timer"
  # Where configurations are looked for, whatever the prefix.
  mkdir -p "$destination/etc/tarn/watch.d"
  install -D -m 644 "$here/watch.yaml.example" "$root/share/doc/tarn-daemon/examples/watch.yaml"
  mkdir -p "$root/share/man/man5" "$root/share/tarn-daemon"
  "$build/tarn-daemon" --manual | gzip -9n >"$root/share/man/man5/tarn-daemon.5.gz"
  "$build/tarn-daemon" --schema >"$root/share/tarn-daemon/watch.schema.json"
  for article in Daemon DaemonExamples DaemonReference; do
    install -D -m 644 "$here/../../Sources/Tarn/Documentation.docc/$article.md" \
      "$root/share/doc/tarn-daemon/$article.md"
  done
}

install_sync() { install_program "$build/tarn-sync" "$root/lib/tarn/tarn-sync" "\$ORIGIN"; }

case $parts in
tools) install_tools ;;
sync) install_sync ;;
daemon) install_daemon "$3" ;;
all)
  install_tools
  install_daemon "$3"
  install_sync
  ;;
esac
