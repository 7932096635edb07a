# SPDX-License-Identifier: Apache-2.0
"""What all files have. The exit code says whether all tests were skipped, as of the C++ programs (tests/support/test_main.cpp): 77, which ctest
counts as a skip."""
import shutil
import subprocess

import pytest

from runs import RUN, folder_with, run
from two_hosts import Hosts

ALL_SKIPPED = 77


def pytest_sessionfinish(session, exitstatus):
    outcomes = session.config.pluginmanager.get_plugin("terminalreporter").stats
    ran = any(outcomes.get(outcome) for outcome in ("passed", "xfailed", "xpassed"))
    # A file that skips itself as a whole collects no test.
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and outcomes.get("skipped") and not ran:
        session.exitstatus = ALL_SKIPPED


@pytest.fixture(scope="session")
def in_one(tmp_path_factory):
    """The folder of a run by one thread."""
    folder = folder_with(RUN, tmp_path_factory.mktemp("one"))
    run(folder, "-q", "--threads", 1)
    return folder


@pytest.fixture()
def hosts():
    if shutil.which("ip") is None:
        pytest.skip("no iproute2 here, which makes network namespaces")
    made = Hosts()
    try:
        made.begin()
    except subprocess.CalledProcessError as error:
        made.end()
        pytest.skip(f"no network namespaces here, which take root: {error.stderr}")
    try:
        made.wait_until_up()
        yield made
    finally:
        made.end()
