#!/bin/bash
# Builds the documentation into the given folder, for a web server.
set -euo pipefail

output=$1
catalog=Sources/Tarn/Documentation.docc
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT

swift package dump-symbol-graph --minimum-access-level public >/dev/null
find .build -path '*symbolgraph*' -name 'Tarn.symbols.json' -exec cp {} "$graphs" \;

mkdir -p "$(dirname "$output")"
"$(dirname "$(command -v swift)")/docc" convert "$catalog" \
  --additional-symbol-graph-dir "$graphs" --output-dir "$output" \
  --fallback-display-name Tarn --fallback-bundle-identifier org.tarn.Tarn \
  --transform-for-static-hosting --warnings-as-errors
echo "docs: in $output, for example: python3 -m http.server --directory $output"
