#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_snippet.sh DOCUMENT SOURCE: fails unless the document's code in the language of the source (C, C++, Python) is the source,
# character by character.
language=${2##*.}
[ "$language" != py ] || language=python
sed -n "/^\`\`\`$language\$/,/^\`\`\`\$/p" "$1" | sed '1d;$d' | diff - "$2"
