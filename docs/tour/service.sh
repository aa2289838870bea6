#!/usr/bin/env bash
# The pictures of the service's page (docs/service.md), anew: examples/server.c twice, labelled as two hosts, which agents send while clients ask it; first
# as it is, then with a sixteenth of the buckets in its table, which makes look-ups slower. Beside it stand the verdict of both versions, a profile that is
# scraped from the service's own endpoint, and a run of load on the service.
#
#   docs/tour/service.sh [FOLDER]     (default: ./diytrace-service-pictures)
#
# Needs a C compiler, chromium, node 20 or later and npm, whose packages come from the registry. All traffic stays on 127.0.0.1. It
# takes two to three minutes, most of which the programs are watched for.
set -euo pipefail

tour=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$tour/../.." && pwd)
fail() { printf 'service.sh: %s\n' "$*" >&2; exit 1; }
for program in cc node npm cargo; do
    command -v "$program" >/dev/null || fail "missing: $program; install it with: apt-get install gcc nodejs npm, and Rust from rustup.rs"
done
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    fail "missing: chromium; install it with: apt-get install chromium"
mkdir -p "${1:-diytrace-service-pictures}"
folder=$(cd "${1:-diytrace-service-pictures}" && pwd)
export CHROMIUM PICTURES=$tour

cargo build --release --quiet --manifest-path "$repo/Cargo.toml"
diytrace=${CARGO_TARGET_DIR:-$repo/target}/release/diytrace
cc -O2 -o "$folder/client" "$repo/examples/client.c"
mkdir -p "$folder"/{1.0,1.1}
cp "$repo/examples/server.c" "$folder/1.0"
sed 's/BUCKETS = 256/BUCKETS = 16/' "$repo/examples/server.c" >"$folder/1.1/server.c"
for version in 1.0 1.1; do # nothing of this machine's folders
    (cd "$folder/$version" && cc -O2 -g -finstrument-functions "-fdebug-prefix-map=$PWD=server-$version" -o server server.c)
done
cp "$tour"/{package.json,service.mjs} "$folder"
(cd "$folder" && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts)

running=()
clean_up() {
    kill "${running[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

rm -rf "$folder"/store.db* "$folder"/web-*
"$diytrace" serve --listen 127.0.0.1:0 --store "$folder/store.db" 2>"$folder/said" &
running+=($!)
for _ in {1..100}; do
    address=$(sed -n 's,^listening on http://,,p' "$folder/said")
    [[ -z $address ]] || break
    sleep 0.1
done
[[ -n $address ]] || fail "the service does not start: $(cat "$folder/said")"

# ask PORT: clients that ask until somebody ends them.
ask() { while "$folder/client" "$1"; do sleep 0.2; done >/dev/null 2>&1; }

# run VERSION: the server on two hosts, its agents, and its clients; their processes in $version.
run() {
    version=()
    local host port
    for host in web-1 web-2; do
        local here=$folder/$host-$1
        mkdir -p "$here"
        "$diytrace" record --out "$here/diytrace.data" -- "$folder/$1/server" >"$here/port" 2>"$here/said" &
        version+=($!)
        "$diytrace" agent --to "http://$address" --dir "$here/diytrace.data" --spool "$here/spool" --every 1s \
            --label "host=$host" --label "version=$1" 2>"$here/agent" &
        version+=($!)
        for _ in {1..100}; do [[ ! -s $here/port ]] || break; sleep 0.1; done
        port=$(<"$here/port")
        ask "$port" &
        version+=($!)
    done
    running+=("${version[@]}")
}

run 1.0
sleep 40
kill "${version[@]}"
run 1.1
sleep 40
cd "$folder"
version_of() { printf 'service=server,version=%s' "$1"; }
"$diytrace" diff --store store.db "$(version_of 1.0)" "$(version_of 1.1)" --replicate slice --save >diff.txt || (($? == 1))
"$diytrace" scrape "http://$address/debug/pprof/diytrace?seconds=5&select=$(version_of 1.1)" --to "http://$address" --label service=server 2>scraped
"$diytrace" load "http://$address/healthz" --rate 200,400 --duration 5s --warm-up 1s --to "http://$address" >load.txt 2>&1
SERVICE=http://$address node service.mjs
