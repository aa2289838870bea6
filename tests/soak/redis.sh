# shellcheck shell=bash
# Redis: threads, a forked child for each background save, scripts in Lua.

server=$folder/redis/src/redis-server
socket=$folder/redis.socket

build() {
    unpack redis
    CFLAGS="-g -finstrument-functions" quietly make -C "$folder/redis/src" -j"$(nproc)" \
        MALLOC=libc OPTIMIZATION=-O2 USE_SYSTEMD=no BUILD_TLS=no redis-server redis-benchmark redis-cli
}

client() { "$folder/redis/src/redis-cli" -s "$socket" "$@" >>"$folder/client.log"; }

is_ready() { "$folder/redis/src/redis-cli" -s "$socket" ping | grep -q PONG; }
is_saved() { "$folder/redis/src/redis-cli" -s "$socket" info persistence | grep -q 'rdb_bgsave_in_progress:0'; }

load() {
    "$folder/redis/src/redis-benchmark" -s "$socket" -n "$((100 * scale))" -c 20 -q \
        -t set,get,incr,lpush,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset >>"$folder/client.log"
    client eval 'local s = 0 for i = 1, 1000 do s = s + #tostring(i) end return redis.call("incrby", "sum", s)' 0
    client eval 'return redis.call("sort", "mylist", "alpha", "limit", 0, 10)' 0
    client bgsave
    wait_for is_saved
}

ends=(shutdown signal kill)

run() { # how it ends
    rm -rf "$folder/appendonlydir"
    under_both_recorders "$server" --port 0 --unixsocket "$socket" --dir "$folder" --save '' --appendonly yes \
        >>"$folder/server.log" &
    local pid=$!
    wait_for is_ready
    load
    case $1 in
        shutdown) client shutdown nosave || true ;;
        signal) kill -TERM "$pid" ;;
        kill) echo "$pid" >"$run/killed"; kill -KILL "$pid" ;;
    esac
    wait "$pid" 2>/dev/null || [[ $1 == kill ]] || fail "the server has failed, see $folder/server.log"
    compare "$run" "$server" sigShutdownHandler
}
