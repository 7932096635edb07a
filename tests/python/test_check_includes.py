# SPDX-License-Identifier: Apache-2.0
"""tools/check_includes.py: names of the standard library that a file uses without their header."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def check(*files):
    tool = files[0].parents[1] / "tools/check_includes.py" if files else ROOT / "tools/check_includes.py"
    return subprocess.run([sys.executable, "-B", tool, *files], capture_output=True, text=True)


def a_tree(folder, **files):
    """A copy of the tool, which looks around itself, and these files of src/."""
    (folder / "tools").mkdir()
    (folder / "src").mkdir()
    (folder / "tools/check_includes.py").write_text((ROOT / "tools/check_includes.py").read_text())
    for name, text in files.items():
        (folder / "src" / f"{name}.hpp").write_text(text)
    return lambda name: check(folder / "src" / f"{name}.hpp")


def test_this_tree_has_them_all():
    done = check()
    assert done.returncode == 0, done.stdout


def test_names_without_their_header_are_told(tmp_path):
    of = a_tree(
        tmp_path,
        c_header="#include <stdint.h>\nusing Word = std::uint64_t;\n",
        two="#include <vector>\nstd::vector<int> sorted(std::vector<int> v) { std::sort(v.begin(), v.end()); return std::move(v); }\n",
        not_code='#include <cstdio>\n// std::sort(a, b)\n/* std::map */ inline auto text() { return "std::optional"; }\n',
        by_ours='#include "base.hpp"\ninline std::uint8_t one() { return 1; }\n',
        base="#include <cstdint>\n")
    assert of("c_header").stdout == "src/c_header.hpp: needs <cstdint>\n"
    assert of("two").stdout == "src/two.hpp: needs <algorithm>\nsrc/two.hpp: needs <utility>\n"
    assert [of(name).returncode for name in ("c_header", "two", "not_code", "by_ours")] == [1, 1, 0, 0]
