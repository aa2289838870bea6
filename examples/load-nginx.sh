#!/usr/bin/env bash
# At which rate does nginx become slow, and in which of its functions does a request cost more then? In one command:
#
#   examples/load-nginx.sh [FOLDER]                (default: ./diytrace-load-nginx)
#
# It builds nginx from the distribution's source package, all of it instrumented, has one worker list a folder of 1,000 files,
# and drives it at four rates beside its recording. The first run takes minutes, later ones seconds. Everything stays
# inside FOLDER. NGINX_TARBALL=FILE uses that source instead of the package. Exit status: 0 done, 1 not so, 77 something is
# missing on this machine.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${1:-diytrace-load-nginx}"
folder=$(cd "${1:-diytrace-load-nginx}" && pwd)
server=$folder/nginx/objs/nginx
address=127.0.0.1:18090

heading() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail()    { printf 'load-nginx.sh: %s\n' "$*" >&2; exit 1; }
skip()    { printf 'load-nginx.sh: %s\n' "$*" >&2; exit 77; }
quietly() { "$@" >>"$folder/build.log" 2>&1 || { tail -n 20 "$folder/build.log" >&2; fail "'$1' failed, see $folder/build.log"; }; }

for tool in apt-get cargo cc make; do command -v "$tool" >/dev/null || skip "$tool is missing"; done
# shellcheck source=../tests/soak/source.sh
source "$repo/tests/soak/source.sh"

heading "Building diytrace"
cargo build --release --quiet --manifest-path "$repo/Cargo.toml"
diytrace=${CARGO_TARGET_DIR:-$repo/target}/release/diytrace

if [[ ! -e $folder/nginx/built ]]; then
    heading "Building nginx with -finstrument-functions (output in $folder/build.log)"
    unpack nginx
    (cd "$folder/nginx" && quietly ./configure --prefix="$folder/site" --without-pcre --without-http_rewrite_module \
        --without-http_gzip_module --with-cc-opt='-O2 -g -finstrument-functions')
    quietly make -C "$folder/nginx" -j"$(nproc)"
    touch "$folder/nginx/built"
fi

site=$folder/site
rm -rf "$site" "$folder/out"
mkdir -p "$site/logs" "$site/html/list"
for i in {1..1000}; do : >"$site/html/list/$i.txt"; done
cat >"$site/nginx.conf" <<END
worker_processes 1;
daemon off;
master_process off;
pid $site/pid;
error_log $site/logs/error.log;
events { worker_connections 256; }
http {
    access_log off;
    keepalive_requests 1000000;
    server { listen $address; root $site/html; location /list/ { autoindex on; } }
}
END

heading "Starting it under the recorder"
"$diytrace" record --out "$folder/out" -- "$server" -c "$site/nginx.conf" >>"$folder/server.log" 2>&1 &
recorded=$!
trap 'kill "$recorded" 2>/dev/null || true; wait "$recorded" 2>/dev/null || true' EXIT
for _ in {1..200}; do
    if (exec 3<>"/dev/tcp/${address/://}") 2>/dev/null; then break; fi
    kill -0 "$recorded" 2>/dev/null || fail "nginx does not start, see $folder/server.log"
    sleep 0.05
done

heading "Load: a list of 1,000 files"
"$diytrace" load "http://$address/list/" --rate "${LOAD_RATES:-50,100,200,400}" --duration 5s --poisson --profile "$folder/out"
