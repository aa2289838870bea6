# The small libraries and programs that measure, and diytrace itself, built into the work folder.
# shellcheck shell=bash disable=SC2154 # variables of run.sh

# The work folder can be read by any user, because PostgreSQL's server runs as another one.
make_work() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/diytrace-benches.XXXXXX")
    chmod 755 "$work"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM HUP
    out=$work/out
}

build_tools() {
    local name target
    for name in floor count; do
        cc -O2 -shared -fPIC "$benches/tools/$name.c" -o "$work/lib$name.so"
    done
    cc -O2 "$benches/tools/measure.c" -o "$work/measure"
    cc -O2 -c "$benches/tools/clock.c" -o "$work/clock.o"
    cargo build --release --quiet --manifest-path "$benches/../Cargo.toml" -p diytrace-cdylib -p diytrace
    target=$(cargo metadata --format-version 1 --no-deps --manifest-path "$benches/../Cargo.toml" |
        sed -E 's/.*"target_directory":"([^"]*)".*/\1/')
    cp "$target/release/libdiytrace.so" "$target/release/diytrace" "$work/"
}

# An empty folder for what one run writes.
fresh_out() {
    rm -rf "$out"
    mkdir "$out"
}

# The disk space that a run's files take, in bytes.
written() { echo $(($(du -s --block-size=1 "$out" | cut -f1) - 4096)); }

# timed COMMAND...: its wall time in ns, or "-" if it fails or takes over a minute.
timed() {
    rm -f "$work/timed"
    if (cd "$out" && "$work/measure" "$work/timed" -- timeout 60 "$@" >/dev/null 2>"$work/stderr"); then
        cut -f1 "$work/timed"
    else
        echo -
    fi
}
