# What this machine is, and where a run's results are kept.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

cpu_model() {
    local model=
    model=$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
    echo "${model:-unknown processor}"
}

# A new folder of this day and processor, unless --out names one.
choose_results() {
    if [[ -z $results ]]; then
        local name number=1
        name=$(date +%F)-$(cpu_model | tr '[:upper:]' '[:lower:]' | sed -E 's/\(r\)|\(tm\)//g; s/[^a-z0-9]+/-/g; s/^-|-$//g')
        results=$benches/results/$name
        while [[ -e $results ]]; do results=$benches/results/$name-$((++number)); done
    fi
    mkdir -p "$results" || fail "cannot make the folder $results"
    results=$(cd "$results" && pwd)
}

version_of() {
    if command -v "$1" >/dev/null; then "$@" 2>&1 | sed -n 1p; else echo "not installed"; fi
}

is_virtual() {
    if grep -qw hypervisor /proc/cpuinfo; then echo "yes ($(systemd-detect-virt 2>/dev/null || echo hypervisor))"; else echo no; fi
}

describe_machine() {
    local governor=/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
    cat <<END
date        $(date -u '+%F %H:%M UTC')
commit      $(git -C "$benches" describe --always --dirty 2>/dev/null || echo unknown)
command     ${0##*/} $*
processor   $(cpu_model)
processors  $(nproc) usable, $(getconf _NPROCESSORS_ONLN) online
virtual     $(is_virtual)
governor    $(cat "$governor" 2>/dev/null || echo "not told")
clock       $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null || echo "not told")
memory      $(awk '/^MemTotal/ { printf "%.1f GB", $2 / 1048576 }' /proc/meminfo)
kernel      $(uname -sr)
system      $(sed -nE 's/^PRETTY_NAME="?([^"]*)"?$/\1/p' /etc/os-release 2>/dev/null)
libc        $(getconf GNU_LIBC_VERSION)
cc          $(version_of cc --version)
c++         $(version_of c++ --version)
clang       $(version_of clang --version)
uftrace     $(version_of uftrace --version)
valgrind    $(version_of valgrind --version)
gprof       $(version_of gprof --version)
load        $(cut -d' ' -f1-3 /proc/loadavg) at the start
END
}
