# A/B: a program against itself with one function changed, by how much is known: Lua, and others (others.sh).
# shellcheck shell=bash disable=SC2034,SC2154 # variables of trust.sh, and results in variables

all_planted=(slower-2 slower-5 slower-10 slower-30 calls-1 inlined recursive sort-comp)
search_function=lmemfind
# What is inlined into it is its own from then on: naming it is no false alarm.
planted_callers='str_find_aux'

bench_planted() {
    get_source_package lua lua5.4 || return 0
    begin_planted trust-planted
    subject=lua
    compare_changes trust-planted '' "${changes[@]}"
    show_planted
}

begin_planted() {
    begin_table "$1" change comparison load turns verdict left_calls right_calls left_self_ns difference p_adjusted \
        error_ns is_found callers_before callers_after others_before others_after launcher
    begin_table "$1-claims" change comparison "${claim_columns[@]}"
}

# compare_changes TABLE PREFIX CHANGE…: of the program that `subject` names; each is in the table by its name behind the prefix.
compare_changes() {
    local table=$1 key name number turns
    build_planted base || { refuse "$subject with a planted change could not be built: see $work/build.log"; return 0; }
    calibrate
    for name in "${@:3}"; do
        key=$2$name turns=0
        [[ $name != slower-* ]] || turns=$(awk -v part="${name#slower-}" -v mean="$mean_ns" -v turn="$turn_ns" \
            'BEGIN { printf "%.0f", part / 100 * mean / turn }')
        case $name in
        slower-*) build_planted "$name" -DPLANTED_TURNS="$turns" ;;
        calls-1) build_planted "$name" -DPLANTED_CALLS ;;
        inlined) build_planted "$name" -DPLANTED_INLINED ;;
        recursive) build_planted "$name" -DPLANTED_RECURSIVE ;;
        sort-comp) build_sort_comp ;;
        esac || { refuse "$key could not be built: see $work/build.log"; continue; }
        planted_function=$search_function
        [[ $name != sort-comp ]] || planted_function=sort_comp
        for ((number = $(done_of "$table" "$key") + 1; number <= planted; number++)); do
            compare_planted base "$name"
            claims | sed "s/^/$key\t$number\t/" >>"$results/$table-claims.tsv"
            tsv_row "$table" "$key" "$number" "$(load_now)" "$turns" "$(found)" "${prefix:--}"
        done
        say "$key: $planted comparisons"
    done
}

# What is changed: in Lua if nobody says otherwise.
subject=lua
build_planted() { "build_planted_$subject" "$@"; }
compare_planted() { "compare_planted_$subject" "$@"; }

# build_planted_lua NAME FLAG...: $work/planted/NAME.
build_planted_lua() {
    local source=$cache/lua/source/src file
    mkdir -p "$work/planted"
    if [[ ! -d $work/planted/o ]]; then
        mkdir "$work/planted/o"
        for file in "$source"/*.c; do
            case $file in */luac.c | */lstrlib.c) continue ;; esac
            cc -O2 -g -w -finstrument-functions -DLUA_USE_POSIX -c "$file" -o "$work/planted/o/$(basename "$file" .c).o" || return
        done
        # The first line of the function's head, and the line that ends it.
        sed -E -e 's/^static const char \*lmemfind \(/#include "planted.h"\nPLANTED_KIND &/' \
            -e '/lmemfind \(const char/,/\{$/s/\{$/&\n  PLANTED_START(s1, l1, s2)/' \
            -e 's/s2 = lmemfind\(/s2 = PLANTED_CALL(lmemfind, /' \
            "$source/lstrlib.c" >"$work/planted/lstrlib.c"
        [[ $(grep -c PLANTED_ "$work/planted/lstrlib.c") = 3 ]] || refuse "this version of Lua has another $planted_function" || return
    fi
    cc -O2 -g -w -finstrument-functions -DLUA_USE_POSIX -I "$source" -I "$benches/programs" "${@:2}" \
        -c "$work/planted/lstrlib.c" -o "$work/planted/$1.o" &&
        cc "$work/planted"/o/*.o "$work/planted/$1.o" -lm -o "$work/planted/$1"
} >>"$work/build.log" 2>&1

# build_sort_comp: Lua whose sort_comp(), which compares two elements of a table that is sorted, begins with 30 turns of a loop over a
# variable in memory.
build_sort_comp() {
    local source=$cache/lua/source/src objects=()
    mapfile -t objects < <(printf '%s\n' "$work"/planted/o/*.o | grep -v '/ltablib\.o$')
    sed -E 's/^static int sort_comp \(.*\{$/&\n  for (volatile int turn = 0; turn < 30; turn++);/' "$source/ltablib.c" >"$work/planted/ltablib.c"
    ! cmp -s "$source/ltablib.c" "$work/planted/ltablib.c" || return
    cc -O2 -g -w -finstrument-functions -DLUA_USE_POSIX -I "$source" -c "$work/planted/ltablib.c" -o "$work/planted/sorting.o" &&
        cc "${objects[@]}" "$work/planted/sorting.o" "$work/planted/base.o" -lm -o "$work/planted/sort-comp"
} >>"$work/build.log" 2>&1

# The searches take a twentieth of the run; what sorts, sorts.
compare_planted_lua() {
    local script="'$benches/programs/search.lua' ${search_share:-20}"
    [[ $2 != sort-comp ]] || script="'$benches/programs/bench.lua' 0.5"
    compare "'$work/planted/$1' $script" "'$work/planted/$2' $script"
}

# What a call of the function costs, and what a turn of the loop adds: mean_ns, turn_ns.
calibrate() {
    local turns=80000
    [[ $subject == lua ]] || turns=20000 # where it is called more often
    build_planted calibration -DPLANTED_TURNS="$turns"
    search_share=1 compare_planted base calibration
    read -r mean_ns turn_ns < <(awk -F'\t' -v name="$search_function" -v turns="$turns" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["function"] == name { print $at["left_cost_ns"], ($at["right_cost_ns"] - $at["left_cost_ns"]) / turns }' \
        "$set/report/functions.tsv")
    say "a call of $search_function takes $mean_ns ns, a turn of the loop $turn_ns ns"
}

# found: what the last comparison says of the function, and how many others it names.
found() {
    awk -F'\t' -v name="$planted_function" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["function"] == name {
            verdict = $at["verdict"]
            line = verdict "\t" $at["left_calls"] "\t" $at["right_calls"] "\t" $at["left_median"] "\t" $at["difference"] "\t" \
                $at["p_adjusted"] "\t" $at["error_ns"] "\t" (verdict ~ /^(changed|calls|one-sided)$/)
        }
        END { printf "%s", line }' "$set/report/functions.tsv"
    claims | awk -F'\t' -v name="$planted_function" -v callers="^($planted_callers)$" '
        $1 == name { next }
        $3 == "follows" { next }
        $1 ~ callers { callers_before++; callers_after += $3 != "unconfirmed"; next }
        { before++; after += $3 != "unconfirmed" }
        END { printf "\t%d\t%d\t%d\t%d\n", callers_before, callers_after, before, after }'
}

show_planted() { awk -F'\t' -f "$benches/tables/planted.awk" "$results/trust-planted.tsv"; }
