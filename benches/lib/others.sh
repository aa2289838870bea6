# A/B in other programs than Lua: SQLite against itself with patternCompare() changed, which LIKE is, and ninja (C++) with
# CanonicalizePath(), which takes `.` and `..` out of a path. Each takes about a twentieth of the run.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of trust.sh, and results in variables

other_subjects=(sqlite ninja)
other_changes=(slower-2 slower-5 calls-1)

bench_others() {
    local wanted=() name subject search_function planted_callers
    for name in "${other_changes[@]}"; do ! is_one_of "$name" "${changes[@]}" || wanted+=("$name"); done
    ((${#wanted[@]})) || return 0
    begin_planted trust-others
    for subject in "${other_subjects[@]}"; do
        ! "prepare_planted_$subject" || compare_changes trust-others "$subject:" "${wanted[@]}"
    done
    show_others
}

prepare_planted_sqlite() {
    search_function=patternCompare planted_callers='likeFunc'
    prepare_sqlite && (cd "$cache/sqlite/source" && make shell.c) >>"$work/build.log" 2>&1
}

# build_planted_sqlite NAME FLAG...: $work/planted/sqlite/NAME, SQLite's shell.
build_planted_sqlite() {
    local source=$cache/sqlite/source folder=$work/planted/sqlite
    local compile=(cc -O2 -g -w -finstrument-functions -I "$source" -I "$benches/programs" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION)
    if [[ ! -e $folder/shell.o ]]; then
        mkdir -p "$folder"
        # The line behind its declaration, the line that ends its head, and its caller, which is the one with four arguments.
        sed -E -e '/^static int patternCompare\(/{s/static int/#include "planted.h"\nPLANTED_KIND static int/;:head;n;/\{$/!b head;s/$/\n  PLANTED_START()/}' \
            -e 's/patternCompare\(zB, zA, pInfo, escape\)/PLANTED_CALL(patternCompare, zB, zA, pInfo, escape)/' \
            "$source/sqlite3.c" >"$folder/sqlite3.c"
        [[ $(grep -c PLANTED_ "$folder/sqlite3.c") = 3 ]] || refuse "this version of SQLite has another patternCompare" || return
        "${compile[@]}" -c "$source/shell.c" -o "$folder/shell.o" || return
    fi
    "${compile[@]}" "${@:2}" -c "$folder/sqlite3.c" -o "$folder/$1.o" && cc "$folder/$1.o" "$folder/shell.o" -lm -o "$folder/$1"
} >>"$work/build.log" 2>&1

compare_planted_sqlite() {
    local script=":memory: '.read $benches/programs/like.sql'"
    compare "'$work/planted/sqlite/$1' $script" "'$work/planted/sqlite/$2' $script"
}

prepare_planted_ninja() {
    search_function='CanonicalizePath(char*, unsigned long*, unsigned long*)' planted_callers='CanonicalizePath[(]std::.*'
    get_source_package ninja ninja-build
}

# build_planted_ninja NAME FLAG...: $work/planted/ninja/NAME. What is asked for each character of a path has no hooks, nor have the
# templates of the standard library.
build_planted_ninja() {
    local source=$cache/ninja/source/src folder=$work/planted/ninja file
    local compile=(c++ -std=c++11 -O2 -g -w -DNDEBUG -finstrument-functions -finstrument-functions-exclude-function-list=IsPathSeparator
        -finstrument-functions-exclude-file-list=/usr/include -iquote "$source" -I "$benches/programs")
    if [[ ! -e $folder/build.ninja ]]; then
        mkdir -p "$folder/o"
        for file in "$source"/*.cc; do
            case ${file##*/} in *_test.cc | *_perftest.cc | *win32.cc | *.in.cc | test.cc | browse.cc | hash_collision_bench.cc | util.cc) continue ;; esac
            "${compile[@]}" -c "$file" -o "$folder/o/$(basename "$file" .cc).o" || return
        done
        sed -E -e 's/^void CanonicalizePath\(char\* path, .*\{$/PLANTED_KIND &\n  PLANTED_START()/' \
            -e 's/^  CanonicalizePath\(str, &len, slash_bits\);/  PLANTED_CALL(CanonicalizePath, str, \&len, slash_bits);/' \
            -e '/^void CanonicalizePath\(string\* path,/i #include "planted.h"' \
            "$source/util.cc" >"$folder/util.cc"
        [[ $(grep -c PLANTED_ "$folder/util.cc") = 3 ]] || refuse "this version of ninja has another CanonicalizePath" || return
        awk -v edges=2500 -f "$benches/programs/ninja.awk" >"$folder/build.ninja"
    fi
    "${compile[@]}" "${@:2}" -c "$folder/util.cc" -o "$folder/$1.o" && c++ "$folder"/o/*.o "$folder/$1.o" -lpthread -o "$folder/$1"
} >>"$work/build.log" 2>&1

# It reads what is to be built, and prints the rules in there.
compare_planted_ninja() {
    local arguments="-f '$work/planted/ninja/build.ninja' -t rules"
    compare "'$work/planted/ninja/$1' $arguments" "'$work/planted/ninja/$2' $arguments"
}

show_others() { awk -F'\t' -f "$benches/tables/planted.awk" "$results/trust-others.tsv"; }
