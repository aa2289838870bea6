#!/usr/bin/env bash
# Exports, opened by the programs they are for that are too heavy for every test run: the flame graph, the page, that of a
# comparison and the service's in Chromium, clicked and searched; speedscope, as its npm package has it; the Firefox Profiler's own importer.
# (callgrind_annotate, dot and go tool pprof are asked by `cargo test --test export`.)
#
#   tests/readers.sh [PROFILE]          (default: a program of c-fixtures/ is recorded)
#   FOLDER=DIR tests/readers.sh …       keeps exports, pictures and npm packages in DIR (default: target/readers)
#
# Needs chromium, node 20 or later and npm; the npm packages come from the registry. What every reader shows is compared with
# `diytrace report --format json`.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$repo/target}
mkdir -p "${FOLDER:-$target/readers}"
folder=$(cd "${FOLDER:-$target/readers}" && pwd)

heading() { printf '\n== %s\n' "$*"; }
fail()    { printf 'readers.sh: %s\n' "$*" >&2; exit 1; }

for program in node npm; do
    command -v "$program" >/dev/null || fail "missing: $program; install it with: apt-get install nodejs npm"
done
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    fail "missing: chromium; install it with: apt-get install chromium"
export CHROMIUM FOLDER="$folder"

heading "diytrace"
cargo build --release --quiet --manifest-path "$repo/Cargo.toml"
diytrace=$target/release/diytrace

profile=${1:-}
if [[ -z $profile ]]; then
    profile=$folder/diytrace.data
    rm -rf "$profile"
    c++ -O1 -g -finstrument-functions -o "$folder/names" "$repo/c-fixtures/names.cc"
    cc -O1 -g -finstrument-functions -o "$folder/recursion" "$repo/c-fixtures/recursion.c"
    "$diytrace" record --out "$profile" "$folder/names"
    "$diytrace" record --out "$profile" "$folder/recursion" fib 20
fi

heading "exports of $profile"
"$diytrace" report --format json "$profile" >"$folder/report.json"
"$diytrace" export flamegraph --names full -o "$folder/flame.svg" "$profile"
"$diytrace" export html --names full -o "$folder/page.html" "$profile"
"$diytrace" export speedscope --names full -o "$folder/speedscope.json" "$profile"
"$diytrace" export firefox --names full -o "$folder/firefox.json" "$profile"

heading "a comparison"
cc -O2 -g -finstrument-functions -o "$folder/changes" "$repo/c-fixtures/changes.c"
cc -O2 -g -DLOOKUPS=9 -finstrument-functions -o "$folder/changed" "$repo/c-fixtures/changes.c"
rm -rf "$folder"/{before,after,diff}
for run in 1 2 3 4; do
    "$diytrace" record --out "$folder/before/$run" "$folder/changes" 3000
    "$diytrace" record --out "$folder/after/$run" "$folder/changed" 3000
done
"$diytrace" diff --fail-on never -o "$folder/diff" "$folder/before" "$folder/after" >/dev/null

heading "readers from npm"
cp "$repo"/tests/readers/*.mjs "$repo"/tests/readers/package.json "$folder"
(cd "$folder" && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts)

export DIYTRACE=$diytrace PROFILE=$profile
for reader in flamegraph page diff service speedscope firefox; do
    heading "$reader"
    node "$folder/$reader.mjs"
done
printf '\nAll readers agree with the report. Pictures are in %s.\n' "$folder"
