#!/bin/bash
# Installs the packages that parts of Tarn need on a Debian machine with a Swift toolchain. If all are
# installed, it does nothing and needs neither network nor root.
#
# Usage: setup.sh [shell] [daemon] [sync] [test] [package] [systems]; without arguments all that tests need.
set -euo pipefail

if ! command -v swift >/dev/null; then
  echo "setup: 'swift' is not on PATH. Install the Swift 6.3 toolchain (swift.org/install)." >&2
  exit 1
fi

parts=${*:-shell daemon sync test}
missing=()
lacks_library() { ! command -v pkg-config >/dev/null || ! pkg-config --exists "$1"; }
library() { if lacks_library "$1"; then missing+=("$2"); fi; }
program() { if ! command -v "$1" >/dev/null; then missing+=("$2"); fi; }
for part in $parts; do
  case $part in
    shell)
      program pkg-config pkg-config
      library lmdb liblmdb-dev
      library icu-i18n libicu-dev
      library libedit libedit-dev
      # For tarn-import.
      library libcrypto libssl-dev
      # This package has no pkg-config file.
      [ -e /usr/include/bid_functions.h ] || missing+=(libintelrdfpmath-dev)
      ;;
    daemon)
      library yaml-0.1 libyaml-dev
      library libcurl libcurl4-openssl-dev
      library libmicrohttpd libmicrohttpd-dev
      library libsystemd libsystemd-dev
      library libcrypto libssl-dev
      library libpq libpq-dev
      ;;
    sync)
      library libpq libpq-dev
      # The tests and the demonstration start servers of their own.
      ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing+=(postgresql)
      ;;
    test)
      program python3 python3
      program curl curl
      library sqlite3 libsqlite3-dev
      [ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
      ;;
    package)
      for name in patchelf lintian mmdebstrap; do program "$name" "$name"; done
      program dpkg-shlibdeps dpkg-dev
      program systemd-analyze systemd
      ;;
    systems)
      [ -x /usr/sbin/mkfs.xfs ] || missing+=(xfsprogs)
      [ -x /usr/sbin/mkfs.btrfs ] || missing+=(btrfs-progs)
      ;;
    *)
      echo "setup: 'shell', 'daemon', 'sync', 'test', 'package' or 'systems', not '$part'" >&2
      exit 2
      ;;
  esac
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup: missing: ${missing[*]} (Debian's names). This system has no apt-get." >&2
  echo "setup: install them with this system's package manager and try again." >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup: installing ${missing[*]} with apt-get"
export DEBIAN_FRONTEND=noninteractive
install=("${as_root[@]}" apt-get install --yes --quiet --no-install-recommends "${missing[@]}")
# An old or missing list of packages is the usual cause of a failure.
"${install[@]}" >/dev/null 2>&1 || {
  "${as_root[@]}" apt-get update --quiet >/dev/null
  "${install[@]}"
}
