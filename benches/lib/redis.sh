# redis: a real server for each run, all of it instrumented, under the load of its own redis-benchmark over a socket.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run.sh

redis_load=(-q -n 50000 -r 10000 -c 20 -t set,get,incr,lpush,lpop,sadd,hset,zadd,lrange_100)

speed_of_redis() {
    local calls round contender measured failed=" plain gprof xray-basic xray-fdr callgrind "
    build_redis || return
    use_contender empty
    rm -f "$work/count"
    calls=$(under_redis_load LD_PRELOAD="$work/libcount.so" BENCH_COUNT="$work/count" >/dev/null && sort -n "$work/count" | tail -n 1)
    [[ $calls ]] || { say "redis does not run: $(tail -n 1 "$work/stderr")"; return; }
    for ((round = 0; round < rounds; round++)); do
        for contender in "${contenders[@]}"; do
            [[ $failed != *" $contender "* ]] || continue
            use_contender "$contender"
            if ! measured=$(under_redis_load); then
                say "redis fails under $contender, which is left out: $(tail -n 1 "$work/stderr")"
                failed+="$contender "
                continue
            fi
            speed_row redis "$contender" "$round" "$calls" "$measured"
        done
    done
    rm -rf "$out"
}

build_redis() {
    get_source_package redis redis || return
    program=$cache/redis/redis root=main
    [[ ! -e $program.hooks ]] || return 0
    say "building redis"
    # Its clients have no hooks. Its makefile keeps the flags of the build before, unless all of that is cleaned away.
    make -C "$cache/redis/source/src" -j"$(nproc)" MALLOC=libc OPTIMIZATION=-O2 USE_SYSTEMD=no BUILD_TLS=no redis-benchmark redis-cli \
        >>"$cache/redis/build.log" 2>&1 && cp "$cache"/redis/source/src/redis-{benchmark,cli} "$cache/redis" &&
        make -C "$cache/redis/source/src" distclean >>"$cache/redis/build.log" 2>&1 &&
        CFLAGS="-g -w -finstrument-functions" make -C "$cache/redis/source/src" -j"$(nproc)" MALLOC=libc OPTIMIZATION=-O2 USE_SYSTEMD=no \
            BUILD_TLS=no redis-server >>"$cache/redis/build.log" 2>&1 && cp "$cache/redis/source/src/redis-server" "$program.hooks" ||
        refuse "redis is left out: it could not be built (see $cache/redis/build.log)"
}

# under_redis_load [NAME=VALUE...]: a server under the contender in use. Prints the load's wall time, and the server's processor time and memory. The kernel tells a
# process's time to the nanosecond only as one sum, so it all stands under "user".
under_redis_load() {
    local server server_pid socket=$work/redis.socket began wall cpu memory
    fresh_out
    rm -f "$socket"
    (cd "$out" && exec env "${settings[@]}" "$@" "${launcher[@]}" "$program.hooks" --port 0 --unixsocket "$socket" --save '') \
        >/dev/null 2>"$work/stderr" &
    server=$!
    for _ in {1..200}; do [[ ! -S $socket ]] || break; sleep 0.05; done
    began=$(date +%s%N)
    "$cache/redis/redis-benchmark" -s "$socket" "${redis_load[@]}" >/dev/null 2>>"$work/stderr" || { kill "$server"; return 1; }
    wall=$(($(date +%s%N) - began))
    server_pid=$(pgrep -f "^$program.hooks" | head -n 1)
    cpu=$(cat "/proc/$server_pid"/task/*/schedstat | awk '{ sum += $1 } END { printf "%.0f", sum }')
    memory=$(awk '/^VmHWM/ { print $2 * 1024 }' "/proc/$server_pid/status")
    "$cache/redis/redis-cli" -s "$socket" shutdown nosave >/dev/null 2>&1 || true
    wait "$server" || true
    printf '%s\t%s\t0\t%s\n' "$wall" "$cpu" "$memory"
}
