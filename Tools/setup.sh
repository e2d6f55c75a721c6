#!/bin/bash
# Installs the packages that Tarn needs on a Debian machine with a Swift toolchain; with the argument
# 'package' also those that make and test its own packages. If all are installed, it does nothing and
# needs neither network nor root.
set -euo pipefail

if ! command -v swift >/dev/null; then
  echo "setup: 'swift' is not on PATH. Install the Swift 6.3 toolchain (swift.org/install)." >&2
  exit 1
fi

missing=()
command -v pkg-config >/dev/null || missing+=(pkg-config)
command -v python3 >/dev/null || missing+=(python3)
command -v curl >/dev/null || missing+=(curl)
has_library() { command -v pkg-config >/dev/null && pkg-config --exists "$1"; }
has_library lmdb || missing+=(liblmdb-dev)
has_library sqlite3 || missing+=(libsqlite3-dev)
has_library icu-i18n || missing+=(libicu-dev)
has_library yaml-0.1 || missing+=(libyaml-dev)
has_library libcurl || missing+=(libcurl4-openssl-dev)
has_library libmicrohttpd || missing+=(libmicrohttpd-dev)
has_library libsystemd || missing+=(libsystemd-dev)
has_library libedit || missing+=(libedit-dev)
has_library libpq || missing+=(libpq-dev)
has_library libcrypto || missing+=(libssl-dev)
# This package has no pkg-config file.
[ -e /usr/include/bid_functions.h ] || missing+=(libintelrdfpmath-dev)
# The tests start servers of their own.
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing+=(postgresql)
[ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
if [ "${1:-}" = package ]; then
  for program in patchelf lintian mmdebstrap; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  command -v dpkg-shlibdeps >/dev/null || missing+=(dpkg-dev)
  command -v systemd-analyze >/dev/null || missing+=(systemd)
fi
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
