#!/usr/bin/env bash
# Licences of all crates that the command and the library are linked with, as those licences ask for: on stdout.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repo"

platform=x86_64-unknown-linux-gnu
linked() { cargo tree --locked --target "$platform" -p diytrace -p diytrace-cdylib -e normal,no-proc-macro --prefix none --no-dedupe -f '{p}'; }
# Name, version, licence and folder of each crate that is not ours.
known() {
    cargo metadata --locked --format-version 1 --filter-platform "$platform" |
        jq -r '.packages[] | select(.source) | [.name, .version, .license // "see below", (.manifest_path | rtrimstr("/Cargo.toml"))] | @tsv'
}

echo "diytrace is linked with these Rust crates, and with Rust's standard library (MIT OR Apache-2.0)."
join -t $'\t' \
    <(known | sed 's/\t/@/' | sort) <(linked | sed -n 's/^\([^ ]*\) v\([^ ]*\).*/\1@\2/p' | sort -u) |
    while IFS=$'\t' read -r crate licence folder; do
        printf '\n==== %s (%s)\n' "${crate/@/ }" "$licence"
        # Of some crates the published files have no text; then the licence's name is all that there is.
        find "$folder" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\|unlicense\)[^/]*' | sort |
            while read -r file; do printf '\n-- %s\n\n' "${file##*/}" && cat "$file"; done
    done
