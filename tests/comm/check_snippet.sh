#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_snippet.sh DOCUMENT SOURCE...: fails unless the document's blocks of code in the language of the sources (C, C++, Python) are
# the sources, one after another, character by character.
document=$1
shift
language=${1##*.}
[ "$language" != py ] || language=python
sed -n "/^\`\`\`$language\$/,/^\`\`\`\$/p" "$document" | sed '/^```/d' | { cat "$@" | diff /dev/fd/3 -; } 3<&0
