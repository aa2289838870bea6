#!/usr/bin/env bash
# How quick the page of `diytrace export html` is in Chromium: first paint, a step of zooming, sorting, searching and filtering, frames
# a second while it is scrolled.
#
#   benches/page.sh [--out FOLDER] [PAGE…]
#
#   PAGE  pages that were exported before; without any, two are made: `cold-tree` with 87,000 paths through 406 functions, and
#         `functions`, 10,000 of them, each called by one other
#
# The table of tests/browser/speed.mjs, which says what its columns are, goes to stdout, and with --out to page.tsv and
# page-machine.txt there. It needs chromium, node and npm (playwright-core is got from its registry, into a temporary folder), and to make
# pages a C compiler and the release build.
set -euo pipefail
export LC_ALL=C
benches=$(cd "$(dirname "$0")" && pwd)
repo=$(dirname "$benches")
results='' pages=()
while (($#)); do
    case $1 in
        --out) results=$2; shift 2 ;;
        -*) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//; p}' "$0"; exit 2 ;;
        *) pages+=("$(realpath "$1")"); shift ;;
    esac
done
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
export CHROMIUM
work=$(mktemp -d "${TMPDIR:-/tmp}/diytrace-page.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$repo"/tests/browser/{package.json,common.mjs,speed.mjs} "$work"
. "$benches/lib/programs.sh"
cd "$work"
npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts

if ((${#pages[@]} == 0)); then
    cold_tree >cold-tree.c
    functions 10000 >functions.c
    for program in cold-tree functions; do
        cc -g -O1 -fno-inline -finstrument-functions "$program.c" -o "$program"
        "$repo/target/release/diytrace" record -o "$program.diyt" "./$program" 20000 >record.log 2>&1 || { cat record.log >&2; exit 1; }
        "$repo/target/release/diytrace" export html "$program.diyt" -o "$program.html"
        pages+=("$work/$program.html")
    done
fi
node speed.mjs "${pages[@]}" | tee page.tsv
if [[ -n $results ]]; then
    cd "$OLDPWD"
    mkdir -p "$results"
    cp "$work/page.tsv" "$results/page.tsv"
    browser_machine >"$results/page-machine.txt"
fi
