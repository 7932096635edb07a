#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test with the GPUs that ctest has given to it (tools/test_gpus.py), else with all. Where there are fewer than it needs it is
# skipped (skips.cmake). Usage: on_gpus.sh NUMBER COMMAND...
set -euo pipefail
needed=$1
shift
IFS=, read -ra all <<< "${CUDA_VISIBLE_DEVICES:-}" # their names, if they are not numbers from 0
if [ -n "${CTEST_RESOURCE_GROUP_COUNT:-}" ]; then
    given=
    for ((i = 0; i < CTEST_RESOURCE_GROUP_COUNT; ++i)); do
        of_group=CTEST_RESOURCE_GROUP_${i}_GPUS # id:2,slots:1
        id=${!of_group#id:}
        id=${id%%,*}
        given+=${given:+,}${all[id]:-$id}
    done
    export CUDA_VISIBLE_DEVICES=$given
elif [ "$needed" -gt 1 ]; then
    if [ -z "${CUDA_VISIBLE_DEVICES+set}" ]; then
        readarray -t all < <(nvidia-smi -L 2> /dev/null | grep '^GPU')
    fi
    if [ "${#all[@]}" -lt "$needed" ]; then
        echo "needs $needed GPUs, ${#all[@]} here"
        exit 77
    fi
fi
exec "$@"
