#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does a program print what the reference prints?   compare.sh PROGRAM REFERENCE...
program=$1
shift
expected=$("$@") || { echo "the reference failed: $*"; exit 1; }
seen=$("$program") || { echo "$program failed"; exit 1; }
[ "$(printf '%s\n' "$expected" | wc -l)" -ge 80 ] || { printf 'the reference printed too little:\n%s\n' "$expected"; exit 1; }
[ "$expected" = "$seen" ] && exit 0
printf '%s\n' "$expected" > expected.txt
printf '%s\n' "$seen" | diff expected.txt -
exit 1
