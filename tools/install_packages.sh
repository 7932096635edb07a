#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing of the Debian packages that the groups named on the command line need (tools/debian-packages.txt).
# Root and passwordless sudo install; anybody else gets the one line to run, and exit code 1. With nothing missing it does nothing.
set -euo pipefail
list="$(dirname "$0")/debian-packages.txt"

if ! command -v dpkg-query apt-get > /dev/null; then
    echo "Not a Debian system: please see to these packages yourself (names of Debian 12, by purpose):" >&2
    grep -v '^#' "$list" >&2
    exit 0 # CMake names what it cannot find
fi

missing=()
for group in "$@"; do
    packages=$(awk -v group="$group" '$1 == group { $1 = ""; print }' "$list")
    if [ -z "$packages" ]; then
        echo "$0: $list has no group '$group'" >&2
        exit 2
    fi
    for package in $packages; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
        case "$status ${missing[*]-} " in
            installed*) ;;
            *" $package "*) ;;
            *) missing+=("$package") ;;
        esac
    done
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=(env)
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
    as_root=(sudo -n env)
else
    echo "Packages are missing, and installing them needs root. Please run this line, then the same make again:" >&2
    echo "    sudo apt-get update && sudo apt-get install --yes --no-install-recommends ${missing[*]}" >&2
    exit 1
fi

install() { "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}" < /dev/null; }
echo "Installing: ${missing[*]}"
if ! log=$(install 2>&1); then # usually package lists that are absent or out of date
    "${as_root[@]}" apt-get update
    install
else
    tail -n 1 <<< "$log"
fi
