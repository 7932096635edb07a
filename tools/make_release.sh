#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything of a release, in build-release/: the wheel, the Debian package, the source as it is committed, the changes of this version, and
# checksums. The version is that of CMakeLists.txt. Refuses to begin with changes that are not committed, or with a version that CHANGELOG.md
# calls unreleased or does not know. Publishes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(parhelion VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
refuse() { echo "no release: $1" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || refuse "there are changes that are not committed. Commit them, or put them away."
heading=$(grep -m 1 "^## $version\b" CHANGELOG.md) || refuse "CHANGELOG.md has no heading '## $version', the version of CMakeLists.txt. Add it."
case $heading in *unreleased*) refuse "CHANGELOG.md calls $version unreleased. Give it its day: '## $version ($(date -u +%F))'." ;; esac

.ci/wheel
tools/build_deb.sh
folder=build-release
rm -rf $folder && mkdir $folder
cp build-wheel/wheels/*.whl build-deb/*.deb $folder
git archive --format=tar.gz --prefix="parhelion-$version/" -o "$folder/parhelion-$version.tar.gz" HEAD
awk -v heading="$heading" '/^## / { inside = $0 == heading; next } inside' CHANGELOG.md > $folder/changes.md
(cd $folder && sha256sum -- * > SHA256SUMS && sha256sum --check --quiet SHA256SUMS)
ls -l $folder
echo "parhelion $version of $(git rev-parse --short=12 HEAD) is in $folder. To tag it: git tag -a v$version"
