#!/bin/bash
# Links the programs of a release build again for packages, with the libraries that they share in one
# file instead of in each of them: link.sh BUILD OUT. Only what a program uses is exported, so that the
# linker drops the rest.
set -euo pipefail

build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shared='/(CTarn|Tarn|TarnStore|ToolSupport)\.build/'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What SwiftPM linked into a program.
objects_of() {
  local list=$build/$1.product/Objects.LinkFileList
  [ -e "$list" ] || { echo "link: '$1' is not built in $build" >&2; exit 1; }
  cat "$list"
}

# The names that objects define or need, sorted: the arguments are options of nm.
names() { xargs nm "$@" --format=just-symbols 2>/dev/null | sort -u; }

link() {
  swiftc -use-ld=lld -Xlinker --gc-sections -Xlinker -z -Xlinker pack-relative-relocs "$@"
}

# Links a program, whose entry point SwiftPM has named after it: NAME LIBRARIES.
link_program() {
  local name=$1
  shift
  link -emit-executable -o "$out/$name" -Xlinker --defsym -Xlinker "main=${name//-/_}_main" \
    @"$work/$name.list" -L"$out" -ltarn "$@"
  strip --strip-unneeded "$out/$name"
}

for name in tarn tarn-daemon tarn-import tarn-stress tarn-sync; do
  objects_of "$name" | grep -vE "$shared" >"$work/$name.list"
done
objects_of tarn | grep -E "$shared" >"$work/shared.list"
# What tarn does not link of CTarn, another program does.
objects_of tarn-stress | grep -E "$shared" >>"$work/shared.list"
sort -u -o "$work/shared.list" "$work/shared.list"
cat "$work"/tarn*.list | names --undefined-only >"$work/needed"
names --defined-only --extern-only <"$work/shared.list" >"$work/defined"
{
  echo "{ global:"
  comm -12 "$work/needed" "$work/defined" | sed 's/.*/"&";/'
  echo "local: *; };"
} >"$work/exported"

link -emit-library -o "$out/libtarn.so" -module-name tarn @"$work/shared.list" \
  -Xlinker "--version-script=$work/exported" -llmdb -lbidgcc100 -licui18n -licuuc
strip --strip-unneeded "$out/libtarn.so"
link_program tarn -ledit -lswiftSynchronization
link_program tarn-stress -llmdb -lswiftSynchronization
link_program tarn-daemon -lyaml -lcurl -lmicrohttpd -lsystemd -lcrypto -lswiftSynchronization
link_program tarn-sync -lpq -lswiftSynchronization
link_program tarn-import -lcrypto -lswiftSynchronization
