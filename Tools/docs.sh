#!/bin/bash
# Builds the documentation into the given folder, for a web server.
set -euo pipefail

output=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
graphs=$work/graphs
catalog=$work/Documentation.docc
mkdir "$graphs"
cp -r Sources/Tarn/Documentation.docc "$catalog"
Tools/doc-links.py "$catalog"

# Of the library alone: 'swift package dump-symbol-graph' builds the tests as well, and fails at their
# modules.
swift build --target Tarn
tools=$(dirname "$(command -v swift)")
"$tools/swift-symbolgraph-extract" -module-name Tarn -minimum-access-level public \
  -target "$(uname -m)-unknown-linux-gnu" -I "$(swift build --show-bin-path)/Modules" \
  -Xcc -fmodule-map-file=Sources/CLMDB/module.modulemap -Xcc -ISources/CTarn/include \
  -Xcc -fmodule-map-file=Sources/CTarn/include/module.modulemap -output-dir "$work"
mv "$work/Tarn.symbols.json" "$graphs"

mkdir -p "$(dirname "$output")"
"$tools/docc" convert "$catalog" \
  --additional-symbol-graph-dir "$graphs" --output-dir "$output" \
  --fallback-display-name Tarn --fallback-bundle-identifier org.tarn.Tarn \
  --transform-for-static-hosting --warnings-as-errors
# On a phone, pictures keep a size at which their text can be read, and scroll sideways.
for style in "$output"/css/index.*.css; do
  echo '@media (max-width:735px){picture{display:block;overflow-x:auto}picture>img{min-width:640px;max-width:none}}' >>"$style"
done
echo "docs: in $output, for example: python3 -m http.server --directory $output"
