# A/A: a program against itself. Whatever is called changed is a false alarm.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of trust.sh, and results in variables

all_programs=(lua sqlite mawk)

# prepare_program NAME: sets `command`, small enough that a run takes some 150 ms under the recorder: long enough for trials.
prepare_program() {
    prepare_workload "$1" || return
    case $1 in
    lua) command="'$program.hooks' '$benches/programs/bench.lua' 0.5" ;;
    sqlite) command="'$program.hooks' --memdb --size 1 --testset main" ;;
    mawk) command="'$program.hooks' -v depth=8 -v functions=40000 -v sites=4 -v breadth=2 -v cold=0 -f '$benches/programs/tree.awk'" ;;
    esac
}

bench_aa() {
    local name number
    begin_table trust-aa program comparison load functions tested before_time before_calls before_one_sided after_time \
        after_calls after_one_sided metrics metrics_before metrics_after says_changed launcher
    begin_table trust-aa-claims program comparison "${claim_columns[@]}"
    for name in "${programs[@]}"; do
        prepare_program "$name" || continue
        for ((number = $(done_of trust-aa "$name") + 1; number <= comparisons; number++)); do
            compare "$command" "$command"
            claims | sed "s/^/$name\t$number\t/" >>"$results/trust-aa-claims.tsv"
            tsv_row trust-aa "$name" "$number" "$(load_now)" "$(counts)" "$says_changed" "${prefix:--}"
            ((number % 10)) || say "$name: $number of $comparisons comparisons"
        done
    done
    show_aa
}

# done_of TABLE KEY: how many comparisons of it are in the table.
done_of() { awk -F'\t' -v key="$2" '$1 == key { n = $2 } END { print n + 0 }' "$results/$1.tsv"; }

show_aa() { awk -F'\t' -f "$benches/tables/aa.awk" "$results/trust-aa.tsv"; }
