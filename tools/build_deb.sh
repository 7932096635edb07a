#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Debian package of the CPU program, the Python modules for Debian's Python and the manual: build-deb/*.deb. Needs what
# tools/install_packages.sh build wheel installs, and PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build-deb
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 # what another build folder has compiled
[ -x $folder/tools/bin/python ] || {
    /usr/bin/python3 -m venv $folder/tools
    $folder/tools/bin/pip install --quiet --disable-pip-version-check 'nanobind==3.1.0'
}
cmake -S . -B $folder -G Ninja --log-level=WARNING -DPARHELION_TESTS=OFF -DPARHELION_PYTHON="$PWD/$folder/tools/bin/python" \
    -DPARHELION_PYTHON_FOLDER=lib/python3/dist-packages "$@"
cmake --build $folder --target all plugins
rm -f $folder/*.deb
(cd $folder && cpack)
ls -l $folder/*.deb
