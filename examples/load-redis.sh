#!/usr/bin/env bash
# At which rate does a queue that nobody empties make redis slow, and in which of its functions? In one command:
#
#   examples/load-redis.sh [FOLDER]                (default: ./diytrace-load-redis)
#   LOAD_RATES=200,4k examples/load-redis.sh       (requests a second; default: 200,1k,4k)
#
# It builds redis from the distribution's source package, instrumented, and drives it by its own protocol beside a recording of its
# commands: half of the requests put a job into a list, the others look there for one that it does not have. The first run takes
# minutes, later ones seconds. Everything stays inside FOLDER. REDIS_TARBALL=FILE uses that source instead of the package. Exit
# status: 0 done, 1 not so, 77 something is missing on this machine.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${1:-diytrace-load-redis}"
folder=$(cd "${1:-diytrace-load-redis}" && pwd)
server=$folder/redis/src/redis-server
port=18379

heading() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail()    { printf 'load-redis.sh: %s\n' "$*" >&2; exit 1; }
skip()    { printf 'load-redis.sh: %s\n' "$*" >&2; exit 77; }
quietly() { "$@" >>"$folder/build.log" 2>&1 || { tail -n 20 "$folder/build.log" >&2; fail "'$1' failed, see $folder/build.log"; }; }

for tool in apt-get cargo cc make; do command -v "$tool" >/dev/null || skip "$tool is missing"; done
# shellcheck source=../tests/soak/source.sh
source "$repo/tests/soak/source.sh"

if [[ ! -e $folder/redis/built ]]; then
    heading "Building redis with -finstrument-functions (output in $folder/build.log)"
    unpack redis
    # A search calls these a dozen times for each entry of a list: recording them would cost more than they do.
    left_out="-finstrument-functions-exclude-file-list=listpack,quicklist,util -finstrument-functions-exclude-function-list=listType,sdslen"
    CFLAGS="-g -finstrument-functions $left_out" quietly make -C "$folder/redis/src" -j"$(nproc)" \
        MALLOC=libc OPTIMIZATION=-O2 USE_SYSTEMD=no BUILD_TLS=no redis-server
    touch "$folder/redis/built"
fi

heading "Building diytrace"
cargo build --release --quiet --manifest-path "$repo/Cargo.toml"
diytrace=${CARGO_TARGET_DIR:-$repo/target}/release/diytrace

heading "Starting it under the recorder"
rm -rf "$folder/out"
"$diytrace" record --root call --depth 1 --out "$folder/out" -- "$server" --bind 127.0.0.1 --port "$port" --dir "$folder" --save '' >>"$folder/server.log" 2>&1 &
recorded=$!
trap 'kill "$recorded" 2>/dev/null || true; wait "$recorded" 2>/dev/null || true' EXIT
for _ in {1..200}; do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
    kill -0 "$recorded" 2>/dev/null || fail "redis does not start, see $folder/server.log"
    sleep 0.05
done

heading "Load: jobs for a queue that nobody empties, and searches in it"
cat >"$folder/mix.txt" <<'END'
1 LPUSH jobs "job {seq}"
1 LPOS jobs "no such job"
END
"$diytrace" load "redis://127.0.0.1:$port" --requests "$folder/mix.txt" --rate "${LOAD_RATES:-200,1k,4k}" \
    --duration 5s --poisson --profile "$folder/out"
