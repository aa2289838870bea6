#!/usr/bin/env bash
# Did it get slower, for which query, and which function is it? Two builds of PostgreSQL, compared in one command:
#
#   examples/compare-postgres.sh [FOLDER]                (default: ./diytrace-postgres, as examples/postgres.sh has it)
#   RUNS=20 examples/compare-postgres.sh [FOLDER]        (runs of each server for each query; default: 10 to 20, as it takes)
#
# It builds PostgreSQL as postgres.sh does, and a second server that differs in one function of the executor: a short
# loop in finalize_windowaggregate(). Both servers run at once and answer the same queries in turn. What a server does
# for a query is the difference of two snapshots of its profile.
# The first run takes minutes, later ones one or two. Everything stays inside FOLDER; the system is not changed.
# Sourced, this file only defines its functions.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/postgres.sh"

changed=finalize_windowaggregate

# The same server, with a loop at the beginning of one function. Only its file is compiled anew.
build_changed() {
    [[ ! -e $folder/install/bin/postgres.changed ]] || return 0
    [[ $folder != *[[:space:]]* ]] || fail "PostgreSQL's makefiles need a folder without spaces in its path"
    heading "Building a server in which $changed is slower"
    (
        cd "$folder/source/src/backend"
        file=executor/nodeWindowAgg.c
        cp -p "$file" "$file.original"
        trap 'mv "$file.original" "$file"' EXIT
        perl -0pi -e "s/^($changed\\([^;{]*\\)\\n\\{\\n)/\$1\\tfor (volatile int i = 0; i < 300; i++);\\n/m" "$file"
        ! cmp -s "$file" "$file.original" || fail "this PostgreSQL has no $changed() where it was in version 15"
        rm -f executor/{nodeWindowAgg.o,objfiles.txt} postgres
        quietly make -C executor COPT=-finstrument-functions
        quietly make
        cp -f postgres "$folder/install/bin/postgres.changed"
        rm -f executor/{nodeWindowAgg.o,objfiles.txt} postgres # they are not the source's
    )
}

# Two servers have two copies of the same data, each with a socket of its own.
copy_data() {
    local side
    for side in left right; do
        rm -rf "$folder/data-$side"
        cp -a "$folder/data" "$folder/data-$side"
        fresh_folder "$socket/$side"
    done
}

# The paths are variables, so that no character of theirs means anything to TOML.
write_scenario() {
    export PG_FOLDER=$folder PG_SOCKET=$socket PG_USER=$server_user AS_SERVER="${as_server[*]}"
    local side binary
    for side in left right; do
        binary=postgres
        [[ $side == left ]] || binary=postgres.changed
        cat <<SIDE
[$side]
setup = 'mkdir -p "\$DIYTRACE_OUT" && { test "\$(id -u)" != 0 || chown nobody "\$DIYTRACE_OUT"; }'
start = '''
cd "\$PG_FOLDER/data-$side" && exec \$AS_SERVER "\$PG_FOLDER/install/bin/$binary" -D . -c listen_addresses= \
    -c unix_socket_directories="\$PG_SOCKET/$side" -c fsync=off -c autovacuum=off -c max_parallel_workers_per_gather=0
'''
ready = '"\$PG_FOLDER/install/bin/pg_isready" -q -h "\$PG_SOCKET/$side"'
stop = 'kill -INT "\$(head -n 1 "\$PG_FOLDER/data-$side/postmaster.pid")"'

SIDE
    done
    query running "select sum(c) from (select count(*) over(order by a) c from x) s"
    query whole   "select sum(c) from (select count(*) over() c from x) s"
    query sorted  "select sum(a) from (select a from x order by -a offset 0) s"
}

query() {
    cat <<QUERY
[[query]]
name = '$1'
command = '''
"\$PG_FOLDER/install/bin/psql" -X -q -h "\$PG_SOCKET/\$DIYTRACE_SIDE" -U "\$PG_USER" -d postgres -c '$2'
'''

QUERY
}

main() {
    if (($# > 1)) || [[ ${1:-} == -* ]]; then echo "usage: compare-postgres.sh [FOLDER]" >&2; exit 2; fi
    prepare "${1:-diytrace-postgres}"
    build_changed
    find_diytrace
    trap 'stop_server; [[ -z ${temporary_socket:-} ]] || rm -rf "$temporary_socket"' EXIT
    trap 'exit 130' INT TERM HUP
    choose_socket_folder
    load_table
    copy_data
    write_scenario >"$folder/compare.toml"
    heading "Both servers, the same queries"
    local status=0 found
    "$diytrace" bench "$folder/compare.toml" ${RUNS:+--runs "$RUNS"} --output "$folder/compared" || status=$?
    ((status <= 1)) || exit "$status"
    found=$(named <"$folder/compared/report/functions.tsv")
    [[ $found == "running $changed" ]] ||
        fail "only $changed has changed, in the query 'running', but this was found: ${found:-nothing}; with other work on the machine, RUNS=20 may help"
    heading "It is $changed, in the query 'running', and nothing else. The report is in $folder/compared/report."
}

# Query and name of every function that was found to take longer or less, from the report's table.
named() {
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
                 NR > 1 && $column["verdict"] == "changed" { print $column["query"], $column["function"] }'
}

[[ ${BASH_SOURCE[0]} != "$0" ]] || main "$@"
