# SPDX-License-Identifier: Apache-2.0
"""What a release refuses to be made of. What it makes is tried by .ci/wheel and .ci/deb, which it runs."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = re.search(r"^project\(parhelion VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


@pytest.fixture()
def tree(tmp_path):
    """A repository in which building takes no time."""
    (tmp_path / "tools").mkdir()
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / "tools/make_release.sh", tmp_path / "tools")
    shutil.copy(ROOT / "CMakeLists.txt", tmp_path)
    for script, made in ((".ci/wheel", "build-wheel/wheels/parhelion.whl"), ("tools/build_deb.sh", "build-deb/parhelion.deb")):
        (tmp_path / script).write_text(f"#!/bin/sh\nmkdir -p $(dirname {made}) && echo {made} > {made}\n")
        (tmp_path / script).chmod(0o755)
    (tmp_path / ".gitignore").write_text("/build*/\n")
    return tmp_path


def release(tree, changes, commit=True):
    (tree / "CHANGELOG.md").write_text(changes)
    git = ["git", "-C", str(tree), "-c", "user.name=test", "-c", "user.email=test"]
    subprocess.run([*git, "init", "-q"], check=True)
    if commit:
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "all"], check=True)
    return subprocess.run([tree / "tools/make_release.sh"], capture_output=True, text=True)


def test_everything_is_made_with_its_checksums(tree):
    done = release(tree, f"# Changes\n\n## {VERSION} (2026-12-01)\n\n- new\n\n## 0.0.1 (2026-01-01)\n\n- old\n")
    assert done.returncode == 0, done.stderr
    folder = tree / "build-release"
    assert {path.name for path in folder.iterdir()} == {"parhelion.whl", "parhelion.deb", f"parhelion-{VERSION}.tar.gz", "changes.md", "SHA256SUMS"}
    assert (folder / "changes.md").read_text().strip() == "- new"
    assert len((folder / "SHA256SUMS").read_text().splitlines()) == 4
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)


@pytest.mark.parametrize("changes, commit, why", [
    (f"## {VERSION} (unreleased)\n", True, "unreleased"), ("## 9.9.9 (2026-12-01)\n", True, f"no heading '## {VERSION}'"),
    (f"## {VERSION} (2026-12-01)\n", False, "not committed")])
def test_what_is_not_ready_is_refused(tree, changes, commit, why):
    done = release(tree, changes, commit)
    assert done.returncode == 1 and why in done.stderr and not (tree / "build-release").exists()


def test_make_knows_the_commands():
    asked = subprocess.run(["make", "-n", "-C", ROOT, "package", "release"], capture_output=True, text=True, check=True).stdout
    assert "tools/build_deb.sh" in asked and "tools/make_release.sh" in asked
