#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check_model.sh holds|misreads|collides|deadlocks MODEL [NAME[=VALUE]...]: searches all states of a model, with the names defined. A
# model that holds shows no error in a complete search. A mutant must fail in its way: a payload is read too early or too late, a second
# message is under way to a slot, or all wait. A search has one result for a text, its names and the tools: with the folder
# PARHELION_MODELS_DONE, what has passed with all of these is not searched again.
set -euo pipefail
done_before=
if [ -n "${PARHELION_MODELS_DONE:-}" ]; then
    inputs=$({ echo "$@"; cat "$0" "$2" "$(dirname "$2")"/channels.inc; spin -V; gcc --version; } | sha256sum)
    done_before=$PARHELION_MODELS_DONE/${inputs%% *}
    if [ -e "$done_before" ]; then
        cat "$done_before"
        exit 0
    fi
fi
expected=$1
model=$(realpath "$2")
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$(dirname "$model")"/channels.inc .
spin -a "${@/#/-D}" "$model" > spin.log 2>&1 || { cat spin.log; exit 2; }
# A mutant fails sooner than an optimised search would be compiled. Most of the time goes to the compiler, but for a model that has not
# changed.
$(command -v ccache || true) gcc "$([ "$expected" = holds ] && echo -O1 || echo -O0)" -w -DSAFETY -DCOLLAPSE -DMEMLIM=2048 -c pan.c
gcc -o pan pan.o
./pan -m200000 > pan.log 2>&1 || true
grep -E 'errors:|states, stored|^pan:|max search depth' pan.log || { cat pan.log; exit 2; }
case $expected in
    holds) grep -q 'errors: 0' pan.log && ! grep -qE 'Search not completed|max search depth too small|out of memory' pan.log ;;
    misreads) grep -q 'assertion violated (payload' pan.log ;;
    collides) grep -q 'assertion violated (wire' pan.log ;;
    deadlocks) grep -q '^pan:.*invalid end state' pan.log ;; # not the head line, which lists what is searched for
    *) exit 2 ;;
esac || exit 1
if [ -n "$done_before" ]; then
    mkdir -p "$PARHELION_MODELS_DONE"
    echo "$expected" "$model" "$@" > "$done_before"
fi
