# Who runs: what each contender needs, how it starts a program, and how it makes a report.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run.sh, and results in variables

all_contenders=(plain empty floor recorded in-root outside-roots paused counts-only
                uftrace xray-basic xray-fdr gprof callgrind)

# use_contender NAME: sets how `program`, whose uppermost function is `root`, runs under it.
#   variant   which build of the program
#   settings  environment of the run, NAME=VALUE
#   launcher  what the command begins with
#   reporter  a command that makes a report of $out; empty if there is none
use_contender() {
    variant=hooks settings=() launcher=() reporter=()
    case $1 in
    plain) variant=plain ;;
    empty) ;;
    floor) settings=(LD_PRELOAD="$work/libfloor.so") ;;
    recorded) use_diytrace ;;
    in-root) use_diytrace DIYTRACE_ROOT="$root" ;;
    outside-roots) use_diytrace DIYTRACE_ROOT=no_such_function ;;
    paused) use_diytrace DIYTRACE_PAUSED=1 ;;
    counts-only) use_diytrace DIYTRACE_TIMING=off ;;
    uftrace)
        launcher=(uftrace record --no-libcall -d "$out/uftrace.data")
        reporter=(uftrace report --no-pager -d "$out/uftrace.data") ;;
    xray-basic | xray-fdr)
        variant=xray
        settings=(BENCH_XRAY="$1")
        # What is left in FDR's ring begins in the middle of things, which `llvm-xray account` cannot add up.
        [[ $1 = xray-fdr ]] || reporter=(bash -c "llvm-xray account xray-log.* --instr_map='$program.xray'") ;;
    gprof)
        variant=gprof
        reporter=(gprof --brief "$program.gprof" gmon.out) ;;
    callgrind)
        variant=plain
        launcher=(valgrind --tool=callgrind --callgrind-out-file="$out/callgrind.out.%p")
        reporter=(bash -c 'callgrind_annotate callgrind.out.*') ;;
    esac
}

# Each report finds no cache of symbols before it but the one that the report before it left.
use_diytrace() {
    settings=(LD_PRELOAD="$work/libdiytrace.so" DIYTRACE_OUT="$out/profile" "$@")
    reporter=(env DIYTRACE_CACHE="$out/cache" "$work/diytrace" report "$out/profile")
}

# Says in `reason` why a contender cannot run here.
is_installed() {
    reason=
    case $1 in
    uftrace) command -v uftrace >/dev/null || reason="not installed (package uftrace)" ;;
    xray-*) can_build_xray || reason="needs clang and its XRay runtime (packages clang, llvm and libclang-rt-*-dev)" ;;
    gprof) command -v gprof >/dev/null || reason="not installed (package binutils)" ;;
    callgrind) command -v valgrind >/dev/null || reason="not installed (package valgrind)" ;;
    esac
    [[ -z $reason ]]
}

can_build_xray() {
    command -v clang >/dev/null &&
        echo 'int main(void) { return 0; }' |
        clang -fxray-instrument -x c - -o "$work/xray-trial" 2>/dev/null
}

# Leaves in `contenders` those that were asked for and can run.
choose_contenders() {
    local name wanted=("${contenders[@]}")
    ((${#wanted[@]})) || wanted=("${all_contenders[@]}")
    contenders=()
    for name in "${wanted[@]}"; do
        if is_installed "$name"; then contenders+=("$name"); else say "without $name: $reason"; fi
    done
    ((${#contenders[@]})) || fail "no contender is left"
}

is_contender() { is_one_of "$1" "${contenders[@]}"; }
