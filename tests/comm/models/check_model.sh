#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check_model.sh holds|fails MODEL [NAME[=VALUE]...]: searches all states of a model exhaustively, with the names defined. A model that should hold
# must show no error in a complete search; one that should fail must show an assertion violated or a deadlock.
set -euo pipefail
expected=$1
model=$(realpath "$2")
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$(dirname "$model")"/channels.inc .
spin -a "${@/#/-D}" "$model" > spin.log 2>&1 || { cat spin.log; exit 2; }
gcc -O1 -w -DSAFETY -DCOLLAPSE -DMEMLIM=2048 -o pan pan.c
./pan -m200000 > pan.log 2>&1 || true
grep -E 'errors:|states, stored|^pan:|max search depth' pan.log || { cat pan.log; exit 2; }
grep -q 'Search not completed' pan.log && complete=no || complete=yes
grep -q 'max search depth too small' pan.log && complete=no
errors=$(sed -nE 's/.*errors: ([0-9]+).*/\1/p' pan.log)
case "$expected $errors $complete" in
    "holds 0 yes") echo "holds in every state" ;;
    "fails 0 "*) echo "should fail and does not"; exit 1 ;;
    "fails "*) grep -qE 'assertion violated|invalid end state' pan.log ;;
    *) echo "should hold and does not, or was not searched completely"; exit 1 ;;
esac
