# One comparison by `diytrace bench`, and what it claims.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of trust.sh, and results in variables

# begin_table NAME COLUMN...: a table of results with its header, unless it is there and is added to.
begin_table() { [[ -n $add && -e $results/$1.tsv ]] || tsv_header "$@"; }

# compare LEFT RIGHT: two commands, in fresh processes, ABBA, with confirmation. Leaves the report in $set/report.
compare() {
    set=$work/set
    rm -rf "$set"
    says_changed=0
    DIYTRACE_CACHE=$work/cache "$work/diytrace" bench --a "$prefix $1" --b "$prefix $2" ${runs:+--runs "$runs"} --output "$set" \
        --fail-on changed >"$work/bench.txt" 2>&1 || says_changed=$?
    ((says_changed < 2)) || { cat "$work/bench.txt" >&2; fail "a comparison failed"; }
}

# counts: of the last comparison: functions on both sides, those tested, what was called changed before confirmation (in
# time, in calls, on one side), and after it (the same); metrics, changed before and after.
counts() {
    awk -F'\t' -f "$benches/tables/claims.awk" -v what=counts "$set/report/functions.tsv"
    awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { all++; verdict = $at["verdict"]; after += verdict == "changed"; before += verdict == "changed" || verdict == "unconfirmed" }
        END { printf "\t%d\t%d\t%d\n", all, before, after }' "$set/report/metrics.tsv"
}

# claims: a line for each function that was called changed.
claims() { awk -F'\t' -f "$benches/tables/claims.awk" -v what=claims "$set/report/functions.tsv"; }

claim_columns=(function kind verdict left_calls right_calls left_self_ns difference threshold error_ns p p_adjusted
               fresh_difference fresh_p)

load_now() { cut -d' ' -f1 /proc/loadavg; }
