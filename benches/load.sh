#!/usr/bin/env bash
# How good `diytrace load` is: its rate beside wrk, h2load and oha on one nginx, by HTTP/1.1 and HTTP/2, how late it sends, whether its
# percentiles are those of a server with planted pauses, beside wrk2's, whether workers send what the access log has, and whether it
# names the planted function.
#
#   benches/load.sh [max|http2|late|stall|workers|faults]… [--rounds N] [--seconds N] [--out FOLDER]
#
#   --rounds N    rounds of each (default 5); of the faults, runs (default 20)
#   --seconds N   how long each takes (default 5)
#   --out FOLDER  where load-*.tsv and load-machine.txt go (default: nothing is kept)
#
# On a busy machine LAUNCHER='chrt -f 1', as root, has clients and servers of max, late and stall go before others.
#
# It needs nginx, wrk and h2load (Debian: nginx-light, wrk, nghttp2-client) for max, http2, late and workers, jq and a C compiler for the
# rest. oha (crates.io) and wrk2 (github.com/giltene/wrk2, its wrk under that name) take part where they are in PATH. All
# traffic goes to 127.0.0.1. Clients take turns, so that what else the machine does hits all; processor time is the client's own.
set -euo pipefail
export LC_ALL=C
benches=$(cd "$(dirname "$0")" && pwd)
what=() rounds='' seconds=5 results=''
while (($#)); do
    case $1 in
        max | http2 | late | stall | workers | faults) what+=("$1"); shift; continue ;;
        --rounds) rounds=$2 ;;
        --seconds) seconds=$2 ;;
        --out) results=$2 ;;
        *) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//; p}' "$0"; exit 2 ;;
    esac
    shift 2
done
((${#what[@]})) || what=(max http2 late stall workers faults)
# shellcheck source=lib/machine.sh
. "$benches/lib/machine.sh"
target=${CARGO_TARGET_DIR:-$benches/../target}
cargo build --release --quiet --manifest-path "$benches/../Cargo.toml"
diytrace=$target/release/diytrace
read -ra launcher <<<"${LAUNCHER:-}"
work=$(mktemp -d)
chmod 755 "$work" # nginx reads in there as somebody else, where root starts it
running=()
clean_up() {
    local one
    for one in "${running[@]}"; do kill "$one" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

keep() { # keep NAME: what is told, also in a file
    if [[ -n $results ]]; then mkdir -p "$results"; tee "$results/load-$1.tsv"; else cat; fi | column -t -s $'\t'
}

start_nginx() {
    [[ ! -e $work/nginx.pid ]] || return 0
    mkdir -p "$work/html"
    head -c 600 /dev/zero | tr '\0' x >"$work/html/index.html"
    cat >"$work/nginx.conf" <<END
worker_processes 1; daemon off; pid $work/nginx.pid; error_log $work/error.log crit;
events { worker_connections 4096; }
http {
    access_log off; keepalive_requests 100000000; log_format counted '\$remote_addr';
    client_body_temp_path $work/a; proxy_temp_path $work/b; fastcgi_temp_path $work/c; uwsgi_temp_path $work/d; scgi_temp_path $work/e;
    server { listen 127.0.0.1:18080; root $work/html; }
    server { listen 127.0.0.1:18081 http2; root $work/html; }
    server { listen 127.0.0.1:18082; root $work/html; access_log $work/access.log counted; }
}
END
    "${launcher[@]}" nginx -p "$work" -c "$work/nginx.conf" >/dev/null 2>&1 &
    running+=($!)
    local tries
    for tries in {1..100}; do
        if (exec 3<>/dev/tcp/127.0.0.1/18080) 2>/dev/null; then return 0; fi
        sleep 0.05
    done
    echo "nginx does not start (after $tries tries): see $work/error.log" >&2
    exit 1
}
nginx_url=http://127.0.0.1:18080/
http2_url=http://127.0.0.1:18081/
counted_url=http://127.0.0.1:18082/

# timed COMMAND…: its output in $work/said, its processor time in $cpu.
timed() {
    local TIMEFORMAT='%U %S'
    { time "$@" >"$work/said" 2>"$work/said.err"; } 2>"$work/cpu"
    cpu=$(awk '{ print $1 + $2 }' "$work/cpu")
}

run_wrk() { timed "${launcher[@]}" wrk -t1 -c50 -d"${seconds}s" "$nginx_url"; requests=$(awk '/requests in/ { print $1 }' "$work/said"); }
run_h2load() { timed "${launcher[@]}" h2load --h1 -t1 -c50 -D "$seconds" "$nginx_url"; requests=$(awk '/^requests:/ { print $8 }' "$work/said"); }
run_diytrace() {
    timed "${launcher[@]}" "$diytrace" load "$nginx_url" --rate max -c 50 --warm-up 0 --duration "${seconds}s" --format json
    requests=$(jq '.steps[0].answered' "$work/said")
}

run_oha() {
    timed "${launcher[@]}" env TOKIO_WORKER_THREADS=1 oha --no-tui --output-format json -c 50 -z "${seconds}s" "$nginx_url"
    requests=$(jq '[.statusCodeDistribution[]] | add' "$work/said")
}
run_h2load_http2() { timed "${launcher[@]}" h2load -t1 -c50 -m1 -D "$seconds" "$http2_url"; requests=$(awk '/^requests:/ { print $8 }' "$work/said"); }
run_diytrace_http2() {
    timed "${launcher[@]}" "$diytrace" load "$http2_url" --http2 --rate max -c 50 --warm-up 0 --duration "${seconds}s" --format json
    requests=$(jq '.steps[0].answered' "$work/said")
}

max() {
    local clients=(wrk diytrace h2load)
    if command -v oha >/dev/null; then clients+=(oha); fi
    in_turn "${clients[@]}"
}

# With one request at a time on each connection.
http2() { in_turn h2load_http2 diytrace_http2; }

in_turn() { # in_turn CLIENT…
    start_nginx
    printf 'round\tclient\trequests\trequests/s\tclient cpu s\trequests/cpu s\n'
    local round client order at
    for ((round = 1; round <= ${rounds:-5}; round++)); do
        order=("$@")
        if ((round % 2 == 0)); then
            order=()
            for ((at = $#; at > 0; at--)); do order+=("${!at}"); done
        fi
        for client in "${order[@]}"; do
            "run_$client"
            awk -v OFS='\t' -v r="$round" -v c="$client" -v n="$requests" -v s="$seconds" -v p="$cpu" 'BEGIN { print r, c, n, int(n / s), p, int(n / p) }'
        done
    done
}

late() {
    start_nginx
    printf 'round\toffered/s\tachieved/s\tlate p50 ns\tlate p99 ns\tlate p99.9 ns\tlate max ns\tload average\n'
    local round rate
    for ((round = 1; round <= ${rounds:-5}; round++)); do
        for rate in 100 1000 20000; do
            "${launcher[@]}" "$diytrace" load "$nginx_url" --rate "$rate" -c 50 --warm-up 500ms --duration "${seconds}s" --format json 2>/dev/null |
                jq -r --arg round "$round" --arg load "$(cut -d' ' -f1 /proc/loadavg)" '.steps[0] |
                    [$round, .offered_per_s, (.achieved_per_s | round), (.late_ns | .p50, .p99, .p999, .max | round), $load] | @tsv'
        done
    done
}

# start_faults FAULT [RECORDED]: the server, with its port in $port.
start_faults() {
    [[ -e $work/faults ]] || cc -O2 -g -pthread -finstrument-functions "$benches/../c-fixtures/faults.c" -o "$work/faults"
    rm -rf "$work/out" "$work/input" "$work/port"
    mkfifo "$work/input" "$work/port"
    if [[ -n ${2:-} ]]; then
        DIYTRACE_OUT=$work/out LD_PRELOAD=$target/release/libdiytrace.so "$work/faults" "$1" <"$work/input" >"$work/port" &
    else
        "${launcher[@]}" "$work/faults" "$1" <"$work/input" >"$work/port" &
    fi
    server=$!
    exec 7>"$work/input" 8<"$work/port"
    read -r port <&8
}
stop_faults() {
    exec 7>&- 8<&-
    wait "$server" 2>/dev/null || true
}

# percentile SHARE FILE: what wrk or wrk2 says, in milliseconds; nothing where it has not been there.
percentile() {
    awk -v share="$1" '/%/ && $1 + 0 == share { ms = $2 ~ /us$/ ? $2 / 1000 : $2 ~ /ms$/ ? $2 + 0 : $2 * 1000; printf "%.2f", ms; exit }' "$2"
}

# Two workers share a rate: what they tell, beside what the access log has.
workers() {
    start_nginx
    printf 'round\toffered/s\tworkers\tsent\tin the access log\tachieved/s\tlate p99 ns\tclock error ns\n'
    : >"$work/serve.log"
    "$diytrace" serve --listen 127.0.0.1:18090 --store "$work/s.db" >/dev/null 2>"$work/serve.log" &
    running+=($!)
    until grep -q 'listening on' "$work/serve.log"; do sleep 0.05; done
    local number
    for number in 1 2; do
        "$diytrace" agent --load-worker --to http://127.0.0.1:18090 >/dev/null 2>"$work/worker$number.log" &
        running+=($!)
    done
    until (($(curl -s http://127.0.0.1:18090/v1/load/workers | jq '.workers | length') == 2)); do sleep 0.05; done
    local round rate before
    for ((round = 1; round <= ${rounds:-5}; round++)); do
        for rate in 1000 10000; do
            before=$(wc -l <"$work/access.log")
            "$diytrace" load "$counted_url" --workers http://127.0.0.1:18090 --rate "$rate" -c 50 --warm-up 0 --duration "${seconds}s" --format json 2>/dev/null >"$work/said"
            jq -r --arg round "$round" --arg logged $(($(wc -l <"$work/access.log") - before)) '.steps[0] |
                [$round, .offered_per_s, (.workers | length), .sent, $logged, (.achieved_per_s | round), (.late_ns.p99 | round), ([.workers[].clock_error_ns] | max)] | @tsv' "$work/said"
        done
    done
}

# A second's first 200 ms have no answer: by the plan, one in five requests waits for the rest of them.
stall() {
    printf 'round\tpercentile\ttrue ms\tfrom plan ms\toff by %%\tfrom send ms\twrk ms\twrk2 ms\n'
    local round
    for ((round = 1; round <= ${rounds:-5}; round++)); do
        start_faults stall
        # A step that ended within a stall would end without what waits then.
        until awk '{ exit !($1 % 1 > 0.3 && $1 % 1 < 0.5) }' /proc/uptime; do sleep 0.02; done
        "${launcher[@]}" "$diytrace" load "http://127.0.0.1:$port/" --rate 500 -c 10 --warm-up 0 --duration "${seconds}s" --format json 2>/dev/null >"$work/said"
        "${launcher[@]}" wrk -t1 -c10 -d"${seconds}s" --latency "http://127.0.0.1:$port/" >"$work/wrk"
        : >"$work/wrk2"
        # Its first ten seconds calibrate, and do not count.
        if command -v wrk2 >/dev/null; then
            "${launcher[@]}" wrk2 -t1 -c10 -R500 -d$((seconds + 10))s --latency "http://127.0.0.1:$port/" >"$work/wrk2"
        fi
        stop_faults
        local share name true
        for share in 90 95 99; do
            name=p$share
            true=$(awk -v share="$share" 'BEGIN { print 200 - 1000 * (100 - share) / 100 }')
            jq -r --arg round "$round" --arg name "$name" --argjson true "$true" \
                --arg wrk "$(percentile "$share" "$work/wrk")" --arg wrk2 "$(percentile "$share" "$work/wrk2")" \
                '.steps[0] | (.latency_ns[$name] / 1e6) as $ms | (.from_send_ns[$name] / 1e6) as $send |
                    [$round, $name, $true, ($ms * 100 | round / 100), (($ms / $true - 1) * 1000 | round / 10), ($send * 100 | round / 100), $wrk, $wrk2] | @tsv' "$work/said"
        done
    done
}

faults() {
    printf 'fault\trun\tbends\tnamed\tshare %%\twhy\tplanted\tsummary\n'
    local fault run
    declare -A planted=([none]=- [lock]=update_totals [list]=find_session [cache]=read_page [pause]=collect [storm]=ask_backend [leak]=take_connection)
    for ((run = 1; run <= ${rounds:-20}; run++)); do
        for fault in none lock list cache pause storm leak; do
            start_faults "$fault" recorded
            "$diytrace" load "http://127.0.0.1:$port/" --rate 40,240 --warm-up 500ms --duration "${seconds}s" --profile "$work/out" --format json 2>/dev/null >"$work/said"
            stop_faults
            jq -r --arg fault "$fault" --arg run "$run" --arg planted "${planted[$fault]}" '
                (.response.functions[0]) as $first |
                [$fault, $run, (if (.summary | contains(" bends at ") or contains(" are answered at ")) then "yes" else "no" end)]
                + (if $first.growth.is_certain then [$first.name, ($first.growth.share * 1000 | round / 10), $first.growth.why] else ["-", "-", "-"] end)
                + [$planted, .summary] | @tsv' "$work/said"
        done
    done
}

if [[ -n $results ]]; then
    mkdir -p "$results"
    describe_machine "${what[@]}" >"$results/load-machine.txt"
fi
for one in "${what[@]}"; do
    echo "== $one"
    # Not by a pipe: what is started here is ended here.
    "$one" >"$work/table"
    keep "$one" <"$work/table"
done
