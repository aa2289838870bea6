# shellcheck shell=bash
# What diytrace counted beside what the event log says, of one server's binary: calls of every function, and of every
# caller of it, in every process.

# Lines of process, what was called (by whom), calls; addresses as the binary's file has them. The server runs from one
# address in all of its processes.
logged() { # folder of logs, binary
    "$folder/eventlog-replay" "$1" | {
        declare -A place
        local kind pid first second third base=
        if readelf -h "$2" | grep -q 'Type: *EXEC'; then base=0; fi
        while IFS=$'\t' read -r kind pid first second third; do
            case $kind in
                module)
                    [[ $second != "$2" || -n $base ]] || base=$((16#$first))
                    continue ;;
                func) third=$second second=$first first= ;;
            esac
            [[ $first != 0 ]] || continue
            for address in $first $second; do
                [[ -n ${place[$address]:-} ]] || printf -v "place[$address]" '0x%x' $((16#$address - base))
            done
            printf '%s %s%s %s\n' "$pid" "${first:+${place[${first:-0}]}→}" "${place[$second]}" "$third"
        done
    }
}

# The same of a report.
# shellcheck disable=SC2016 # the dollars are jq's
recorded() { # profile
    "$folder/diytrace" report --by process --format json "$1" | jq -r '.reports[] | .process.pid as $pid |
        .functions[] | (select(.calls > 0) | "\($pid) \(.address) \(.calls)"),
        (.address as $caller | .callees[] | select(.calls > 0) | "\($pid) \($caller)→\(.address) \(.calls)")'
}

# The calls of functions of the server that may interrupt others at any place: two recorders tell their callers differently.
handlers() { # binary, names…
    local binary=$1
    shift
    nm "$binary" | awk -v names=" $* " 'index(names, " " $3 " ") { sub(/^0+/, "0x", $1); print $1 }'
}

# Fails where they differ. A process that was killed by kill -9, named in RUN/killed, may have been so between the two: then
# its latest call is in the log and not in the profile.
compare() { # folder of the run, binary, signal handlers…
    local run=$1 lost
    touch "$run/killed"
    handlers "$2" "${@:3}" >"$run/handlers"
    logged "$run/logs" "$2" >"$run/logged"
    recorded "$run/profile" >"$run/recorded"
    lost=$("$folder/diytrace" report --format json "$run/profile" | jq '[.reports[].lost_calls] | add')
    [[ -s $run/logged ]] || fail "the event log is empty"
    [[ $lost == 0 ]] || fail "$lost calls were lost"
    awk '
        FILENAME == ARGV[1] { killed[$1]; next }
        FILENAME == ARGV[2] { handler[$1]; next }
        { pair = split($2, ends, "→") == 2
          if (pair && ends[2] in handler) next }
        FILENAME == ARGV[3] { logged[$1 " " $2] += $3; next }
        { recorded[$1 " " $2] += $3
          processes[$1]; pairs += pair; functions += !pair; calls += pair ? 0 : $3 }
        END {
            for (what in logged) all[what]
            for (what in recorded) all[what]
            for (what in all) {
                missing = logged[what] - recorded[what]
                split(what, part, " ")
                kind = part[1] (index(what, "→") ? " pair" : " function")
                if (missing == 1 && part[1] in killed && !excused[kind]++) { if (kind ~ /function/) between++; continue }
                if (missing) { print what ": " logged[what] + 0 " logged, " recorded[what] + 0 " recorded"; differ++ }
            }
            if (differ) exit 1
            printf "%d calls, %d processes (%d of them killed, %d of these between the two recorders), ",
                calls, length(processes), length(killed), between | "cat >&2"
            printf "%d functions and %d pairs in processes: the same\n", functions, pairs | "cat >&2"
        }' "$run/killed" "$run/handlers" "$run/logged" "$run/recorded" >"$run/differences" ||
        fail "the counts differ, see $run/differences"
    rm -rf "$run/logs"
}
