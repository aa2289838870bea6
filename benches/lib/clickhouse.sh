# A ClickHouse of the bench's own: the library that npm has of it, as the tests start it.
# shellcheck shell=bash

# start_clickhouse FOLDER: its data goes there, `clickhouse_port` is its port of HTTP, and it ends with its input, `clickhouse_input`.
start_clickhouse() {
    local cache=${DIYTRACE_BENCH_CACHE:-}
    if [[ -z $cache ]]; then
        cache=$HOME/.cache/diytrace-benches
        [[ $(id -u) != 0 ]] || cache=/var/tmp/diytrace-benches
    fi
    local library=$cache/clickhouse/node_modules/@chdb/lib-linux-x64-gnu/libchdb.so
    mkdir -p "$cache/clickhouse" "$1"
    cp "$benches/../tests/clickhouse/package.json" "$cache/clickhouse/"
    (cd "$cache/clickhouse" && npm install --silent --prefer-offline --no-audit --no-fund --no-package-lock --ignore-scripts) >&2
    cc -pthread -o "$cache/clickhouse/engine" "$benches/../c-fixtures/engine.c" -ldl
    cat >"$1/users.xml" <<'XML'
<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users>
 <default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
</users></clickhouse>
XML
    echo "<clickhouse><users_config>$1/users.xml</users_config></clickhouse>" >"$1/config.xml"
    # The last query reads a pipe that stays open as long as the engine is to live.
    local queries="SYSTEM START LISTEN HTTP; SELECT getServerPort('http_port') INTO OUTFILE '$1/ports' TRUNCATE FORMAT TSV;
        SELECT count() FROM file('/proc/self/fd/9', 'LineAsString', 'line String') FORMAT Null"
    rm -f "$1/input" "$1/ports"
    mkfifo "$1/input"
    local launcher
    read -ra launcher <<<"${LAUNCHER:-}"
    (cd "$1" && exec "${launcher[@]}" "$cache/clickhouse/engine" "$library" --path "$1/data" --config-file "$1/config.xml" --http_port=0 --tcp_port=0 \
        --listen_host=127.0.0.1 --interactive --progress=off --history_file=/dev/null --query "$queries" <"$1/input" >"$1/said" 2>&1) &
    clickhouse_pid=$!
    exec {clickhouse_input}>"$1/input"
    until [[ -s $1/ports ]]; do
        kill -0 "$clickhouse_pid" 2>/dev/null || { cat "$1/said" >&2; return 1; }
        sleep 0.1
    done
    clickhouse_port=$(<"$1/ports")
}

# Ends it, and waits until it has.
stop_clickhouse() {
    [[ -n ${clickhouse_pid:-} ]] || return 0
    exec {clickhouse_input}>&-
    wait "$clickhouse_pid" 2>/dev/null || true
}
