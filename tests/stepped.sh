#!/usr/bin/env bash
# A signal handler at every instruction of the recorder's hooks, on every way through them, whatever it does there: every
# call must be counted, and every process live on.
#
#   tests/stepped.sh [--out FILE] [--stride N] [--offset N] [--only WAY[/ACTION],…] [--stepper signal|sync|every|ptrace]
#
# It prints a row for each way and action, in each build (gcc and clang, -O0 and -O2), and writes the table to FILE. A trial is
# a process of its own, at some milliseconds: all of them take hours. --stride 50 takes every fiftieth instruction, from
# --offset on, in minutes; --only new-path,*/jump takes some of the ways, or of the actions. The ways are in
# c-fixtures/stepped-scenarios.c, what handlers do is in c-fixtures/stepped-actions.c, and how they come where they come is in
# c-fixtures/stepped-stepper.c:
#
#   signal   one trial an instruction: where a signal that the recorder may block would come
#   sync     wherever SIGTRAP is not blocked
#   every    at all instructions of one trial, for handlers that return
#   ptrace   a parent steps and sends a signal. Slow: take a stride
#
# What came out of it is kept in tests/stepped/. A row that fails is looked into by hand: `stepped SCENARIO ACTION signal STEP 1 1 own` under the preload is one trial, and
# `stepped list` tells the variables that a scenario needs.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage() { sed -n 5p tests/stepped.sh >&2; exit 2; }
while (($#)); do
    (($# > 1)) || usage
    case $1 in
        --out) touch "$2"; STEPPED_OUT=$(realpath "$2"); export STEPPED_OUT ;;
        --stride) export STEPPED_STRIDE=$2 ;;
        --offset) export STEPPED_SEED=$2 ;;
        --only) export STEPPED_ONLY=$2 ;;
        --stepper) export STEPPED_STEPPER=$2 ;;
        *) usage ;;
    esac
    shift 2
done
exec cargo test --release --quiet --test stepped -- --ignored --exact everything --nocapture
