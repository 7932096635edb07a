# SPDX-License-Identifier: Apache-2.0
"""The exit codes of test files that are skipped, wholly or in part, and of those that fail whatever they print."""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PASSES = "def test_passes(): pass\n"
SKIPS = "import pytest\n@pytest.mark.skip(reason='no GPU')\ndef test_skips(): pass\n"
FAILS = "def test_fails():\n    print('no GPU')\n    assert False, 'needs several GPUs, 1 here'\n"
SKIPS_ITSELF = "import pytest\npytest.skip('needs several GPUs, 1 here', allow_module_level=True)\n"
BREAKS = "import pytest\n@pytest.fixture\ndef broken(): raise OSError('no GPU')\ndef test_breaks(broken): pass\n"


@pytest.mark.parametrize(
    "text, code",
    [(PASSES, 0), (SKIPS, 77), (SKIPS_ITSELF, 77), (PASSES + SKIPS, 0), (FAILS, 1), (SKIPS + FAILS, 1), (SKIPS + BREAKS, 1), ("", 5)],
    ids=["passes", "skips", "skips_itself", "skips_in_part", "fails", "skips_and_fails", "skips_and_breaks", "no_tests"],
)
def test_exit_code(tmp_path, text, code):
    for file in Path(__file__).parent.glob("*.py"):  # conftest.py, and what it may import
        if not file.name.startswith(("test_", "nightly_")):
            shutil.copy(file, tmp_path)
    (tmp_path / "test_file.py").write_text(text)
    ended = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_file.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == code, ended.stdout
