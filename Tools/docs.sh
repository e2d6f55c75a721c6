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

swift package dump-symbol-graph --minimum-access-level public >/dev/null
find .build -path '*symbolgraph*' -name 'Tarn.symbols.json' -exec cp {} "$graphs" \;

mkdir -p "$(dirname "$output")"
"$(dirname "$(command -v swift)")/docc" convert "$catalog" \
  --additional-symbol-graph-dir "$graphs" --output-dir "$output" \
  --fallback-display-name Tarn --fallback-bundle-identifier org.tarn.Tarn \
  --transform-for-static-hosting --warnings-as-errors
echo "docs: in $output, for example: python3 -m http.server --directory $output"
