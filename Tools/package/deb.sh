#!/bin/bash
# Makes the Debian packages tarn (programs, pages, completion, Swift runtime), tarn-daemon (the daemon
# and its units) and tarn-sync (which needs libpq): deb.sh BUILD OUT.
set -euo pipefail

build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
version=$("$build/tarn" --version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
maintainer="The Tarn authors <tarn@example.org>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Files have the same time in each package of one commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

# The packages with the libraries that these programs need, but for Swift's, which are in tarn.
dependencies() {
  local tree=$1
  shift
  mkdir -p "$work/shlibs/debian"
  echo "Source: tarn" >"$work/shlibs/debian/control"
  (cd "$work/shlibs" && dpkg-shlibdeps --ignore-missing-info -O -l"$work/tarn/usr/lib/tarn" \
    "${@/#/-e$tree/}" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

# Writes what belongs to every package, and makes it: NAME DEPENDS SHORT LONG.
make_package() {
  local tree=$work/$1 date
  mkdir -p "$tree/DEBIAN" "$tree/usr/share/doc/$1"
  sed "s/@YEAR@/$(date -d "@$SOURCE_DATE_EPOCH" +%Y)/" "$here/copyright" \
    >"$tree/usr/share/doc/$1/copyright"
  date=$(date -R -d "@$SOURCE_DATE_EPOCH")
  printf 'tarn (%s) stable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$date" | gzip -9n \
    >"$tree/usr/share/doc/$1/changelog.gz"
  mkdir -p "$tree/usr/share/lintian/overrides"
  if [ -e "$here/$1.lintian-overrides" ]; then
    cp "$here/$1.lintian-overrides" "$tree/usr/share/lintian/overrides/$1"
  else
    rmdir --parents --ignore-fail-on-non-empty "$tree/usr/share/lintian/overrides"
  fi
  cat >"$tree/DEBIAN/control" <<END
Package: $1
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: database
Priority: optional
Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f1)
Depends: $2
Description: $3
$4
END
  (cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  chmod -R u+rwX,go+rX,go-w "$tree"
  find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group --build "$tree" "$out/$1_${version}_$architecture.deb" >/dev/null
  echo "$out/$1_${version}_$architecture.deb"
}

"$here/install.sh" "$build" /usr "$work/tarn" tools
"$here/install.sh" "$build" /usr "$work/tarn-daemon" daemon
"$here/install.sh" "$build" /usr "$work/tarn-sync" sync
# The pages of these two go with them.
mkdir -p "$work/tarn-daemon/usr/share/man/man1" "$work/tarn-daemon/DEBIAN"
mv "$work/tarn/usr/share/man/man1/tarn-daemon.1.gz" "$work/tarn-daemon/usr/share/man/man1/"
mkdir -p "$work/tarn-sync/usr/share/man/man1"
mv "$work/tarn/usr/share/man/man1"/tarn-{sync,server}.1.gz "$work/tarn-sync/usr/share/man/man1/"
for script in config postinst prerm postrm; do
  install -m 755 "$here/tarn-daemon.$script" "$work/tarn-daemon/DEBIAN/$script"
done
install -m 644 "$here/tarn-daemon.templates" "$work/tarn-daemon/DEBIAN/templates"

libraries=$(find "$work/tarn/usr/lib/tarn" -name '*.so' -printf 'usr/lib/tarn/%f\n')
# shellcheck disable=SC2086
make_package tarn "$(dependencies "$work/tarn" usr/bin/tarn usr/bin/tarn-stress usr/lib/tarn/tarn-import $libraries)" \
  "live-object database in one file for any number of processes" \
  " Shell, stress runner and Swift runtime of Tarn: one process commits, every
 other one learns of it at once and gets the exact difference. 'tarn' imports,
 queries, watches, checks and exports stores."
make_package tarn-daemon \
  "tarn (= $version), adduser, debconf (>= 0.5) | debconf-2.0, $(dependencies "$work/tarn-daemon" usr/lib/tarn/tarn-daemon)" \
  "delivers changes of Tarn databases to programs" \
  " Watches queries of Tarn stores and hands their changes to commands, files,
 sockets, webhooks and event streams, each at least once and in order, over
 restarts of either side."
make_package tarn-sync "tarn (= $version), $(dependencies "$work/tarn-sync" usr/lib/tarn/tarn-sync)" \
  "keeps Tarn databases and a PostgreSQL server the same" \
  " Sends what is committed in Tarn stores to a PostgreSQL database and brings
 what others have written there, property by property, with rows that SQL
 programs read and write."
