# What the scripts say, how they read their options, and how they write raw results.
# shellcheck shell=bash disable=SC2154 # variables of the scripts

say() { printf 'benches: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

# tsv_header FILE COLUMN..., tsv_row FILE VALUE...: the raw results. A value may hold several, tabs between them.
tsv_header() { (IFS=$'\t' && printf '%s\n' "${*:2}") >"$results/$1.tsv"; }
tsv_row() { (IFS=$'\t' && printf '%s\n' "${*:2}") >>"$results/$1.tsv"; }

is_one_of() {
    local name
    for name in "${@:2}"; do [[ $name != "$1" ]] || return 0; done
    return 1
}

# known KIND NAME NAMES...: refuses what is not one of the names.
known() { is_one_of "$2" "${@:3}" || fail "there is no $1 '$2'; there are: ${*:3}"; }

number() {
    [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a number, not '${2:-}'"
    echo "$2"
}
