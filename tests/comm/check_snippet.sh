#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_snippet.sh DOCUMENT SOURCE: fails unless the C or C++ in the document is the source, character by character.
sed -n '/^```\(c\|cpp\)$/,/^```$/p' "$1" | sed '1d;$d' | diff - "$2"
