#!/usr/bin/env bash
# At which rate do transactions queue up for one row, and in which function of PostgreSQL do they? In one command:
#
#   examples/load-postgres.sh [FOLDER]                (default: ./diytrace-postgres, as examples/postgres.sh has it)
#   LOAD_RATES=20,200 examples/load-postgres.sh       (requests a second; default: 20,80,160)
#
# It builds PostgreSQL as postgres.sh does, with its executor instrumented, and drives it by its own protocol beside its recording:
# queries that read one row of many, and transactions that keep the same row locked for five milliseconds. The first run takes
# minutes, later ones seconds. Everything stays inside FOLDER; the system is not changed.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/postgres.sh"

port=18543

main() {
    if (($# > 1)) || [[ ${1:-} == -* ]]; then echo "usage: load-postgres.sh [FOLDER]" >&2; exit 2; fi
    prepare "${1:-diytrace-postgres}"
    find_diytrace
    trap 'stop_server; [[ -z ${temporary_socket:-} ]] || rm -rf "$temporary_socket"' EXIT
    trap 'exit 130' INT TERM HUP
    choose_socket_folder
    load_table
    cat >"$folder/mix.sql" <<END
1 SELECT * FROM x WHERE a = {random:1-$rows}
4 BEGIN; UPDATE x SET a = a WHERE a = 1; SELECT pg_sleep(0.005); COMMIT
END
    local out=$folder/profile-load
    fresh_folder "$out"
    server_options=(-c listen_addresses=127.0.0.1 -c "port=$port")
    export PGPORT=$port
    start_server "$diytrace" record --root standard_ExecutorRun --out "$out" --
    heading "Load: transactions for one row, and reads"
    "$diytrace" load "postgres://$server_user@127.0.0.1:$port/postgres" --requests "$folder/mix.sql" \
        --rate "${LOAD_RATES:-20,80,160}" --duration 5s --poisson --profile "$out"
}

main "$@"
