#!/usr/bin/env bash
# From a fresh checkout to a first profile: builds diytrace, profiles examples/server.c under real requests, shows what
# handle_request() did, and checks the counts against what the client asked for. Of an installed diytrace, it takes that.
#
#   examples/quickstart.sh
#
# Exit status: 0 all counts are right, 1 not so, 2 something is missing on this machine.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

heading() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail()    { printf 'quickstart.sh: %s\n' "$*" >&2; exit "${status:-1}"; }

command -v cc >/dev/null || status=2 fail "missing: a C compiler; install one with: apt-get install gcc libc6-dev"
if [[ -e $repo/Cargo.toml ]]; then
    command -v cargo >/dev/null || status=2 fail "missing: cargo; install Rust with: curl https://sh.rustup.rs -sSf | sh"
    heading "Building diytrace"
    # Neither the service nor all optimizations are needed here: `cargo build --release` has both, and takes minutes longer.
    cargo build --profile quickstart --no-default-features --manifest-path "$repo/Cargo.toml"
    diytrace=${CARGO_TARGET_DIR:-$repo/target}/quickstart/diytrace
else # installed, in PREFIX/share/doc/diytrace
    diytrace=$(cd "$repo/../../.." && pwd)/bin/diytrace
    [[ -x $diytrace ]] || status=2 fail "missing: $diytrace"
fi

heading "Compiling examples/server.c with -finstrument-functions, and a client for it without"
folder=$(mktemp -d "${TMPDIR:-/tmp}/diytrace-quickstart.XXXXXX")
profile=$folder/diytrace.data
cc -O2 -g -finstrument-functions -o "$folder/server" "$repo/examples/server.c"
cc -O2 -o "$folder/client" "$repo/examples/client.c"
echo "in $folder"

heading "Running it: 4 connections at a time, a forked worker for each, 250 requests a worker"
"$diytrace" record --root handle_request --out "$profile" -- "$folder/server" >"$folder/port" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in {1..100}; do
    if [[ -s $folder/port ]] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
done
[[ -s $folder/port ]] || fail "the server did not start"
"$folder/client" "$(<"$folder/port")" >"$folder/expected" || fail "the server did not answer as it should"
kill -TERM "$server"
wait "$server" || fail "the server failed"
trap - EXIT

heading "What handle_request did, in all workers together"
"$diytrace" report --root handle_request "$profile"

# calls_of FUNCTION: its number of calls, from the report as CSV, which names it as a root or as one of its callees.
"$diytrace" report --root handle_request --format csv "$profile" >"$folder/report.csv"
calls_of() { awk -F, -v name="$1" '$6 == name { calls += $11 } END { print calls }' "$folder/report.csv"; }
while read -r function expected; do
    calls=$(calls_of "$function")
    [[ $calls == "$expected" ]] || fail "$function was called $expected times, but the profile says ${calls:-nothing}"
done <"$folder/expected"

heading "Every call is there"
cat <<END
The client asked $(awk '$1 == "handle_request" { print $2 }' "$folder/expected") times, and the counts above agree with what it asked for, function by function.
The workers left by _exit, which runs no exit handlers: the profile is memory shared with a file, so nothing is lost.

To look further:
  $diytrace report --root 'count_words,lookup' $profile
  $diytrace report --by process --limit 5 $profile
  $diytrace report --format json $profile
END
