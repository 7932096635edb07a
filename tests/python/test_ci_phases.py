# SPDX-License-Identifier: Apache-2.0
"""How the phases of .ci/run follow each other (.ci/phases): by builds and tests that only sleep."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = f"""
set -euo pipefail
exec < /dev/null
builds=(first second)
phases=("early : - : echo early" "tests of first : first : tests_of_first" "tests of second : second : echo done; $LAST_PHASE")
build_first() {{ echo first begins; sleep 0.3; $FIRST_BUILD; echo first ends; }}
build_second() {{ echo second $(chrt -p $BASHPID | grep -c IDLE); touch second_begun; $SECOND_BUILD; touch second_ended; }}
tests_of_first() {{ while [ ! -e second_ended ] && [ "$SECOND_BUILD" = true ]; do sleep 0.05; done; echo '100% tests passed, of 7'; }}
. {REPOSITORY}/.ci/phases
begin_builds
all_phases
"""


def begin(folder, **what):
    environment = {"FIRST_BUILD": "true", "SECOND_BUILD": "true", "LAST_PHASE": "true"} | what
    return subprocess.Popen(["bash", "-c", SCRIPT], cwd=folder, env=os.environ | environment, stdout=subprocess.PIPE, text=True)


def lines(process):
    return process.communicate(timeout=60)[0].splitlines()


def test_a_build_goes_on_beside_the_tests_of_the_one_before_at_the_lowest_priority(tmp_path):
    said = lines(begin(tmp_path))  # these tests wait for that build
    *said, summary = "\n".join(said).split("== All passed\n")
    assert said[0].splitlines() == ["== early", "early", "== tests of first", "first begins", "first ends", "100% tests passed, of 7",
                                    "== tests of second", "second 1", "done"]
    assert [re.sub(r"^ *\d+ s +of which +\d+ for its build +", "", line).strip() for line in summary.splitlines()] == [
        "early", "tests of first", "100% tests passed, of 7", "tests of second"]


@pytest.mark.parametrize("what,failed", [({"FIRST_BUILD": "false"}, "tests of first"), ({"SECOND_BUILD": "false"}, "tests of second"),
                                         ({"LAST_PHASE": "false"}, "tests of second")], ids=str)
def test_what_fails_is_named_and_ends_all(tmp_path, what, failed):
    process = begin(tmp_path, **what)
    assert lines(process)[-1] == f"== FAILED: {failed}"
    assert process.returncode == 1


def test_builds_end_with_the_script(tmp_path):
    process = begin(tmp_path, SECOND_BUILD="sleep 54321")
    while not (tmp_path / "second_begun").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    lines(process)
    until = time.monotonic() + 20
    while subprocess.run(["pgrep", "-f", "^sleep 54321"], capture_output=True).stdout:
        assert time.monotonic() < until
        time.sleep(0.1)
