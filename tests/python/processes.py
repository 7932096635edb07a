# SPDX-License-Identifier: Apache-2.0
"""Runs in several processes that the program starts itself (`--processes`): begin them, see who is there, how they end."""
import re
import subprocess
import time
from pathlib import Path

import pytest

from runs import command

DEADLINE = 3  # s, of a wait for another rank, in tests that wait until then
FAR = 60  # s, in the others
AT_ONCE = FAR / 2  # s: who ends by then has not waited for the deadline, however busy the machine is
KILLED = r"E601 The process of ranks? {}( to \d)? \(\d+\) was killed by signal 9 \(Killed\)\."
EITHER_STOPPED = rf"E601 (The process of rank 1 \(\d+\) has been stopped for {DEADLINE} s\.|Rank \d timed out after {DEADLINE} s waiting for .*)"


def start(folder, *options, timeout=f"{FAR}s"):
    options = ["-q", "--threads", 1, "--comm-timeout", timeout, "--checkpoint", "0s", *options]
    return subprocess.Popen(command(*options), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def children(process):
    try:
        return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def wait_until(condition, process):
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.002)


def all_begun(process, folder, count):
    wait_until(lambda: len(children(process)) == count and (folder / "md.xtc").exists() and (folder / "md.xtc").stat().st_size > 0, process)
    return children(process)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def expect_end(process, ranks, sentence, seconds):
    """Ends with one sentence, which the log has as well, and leaves no process and no shared memory."""
    try:
        said = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail(f"still running after {seconds} s; has said: {process.communicate()[1]}")
    *notes, last = said.splitlines()
    assert re.fullmatch(sentence, last), said
    # A kill between two renamings: the checkpoint before is taken, and a note says so. Few cores: a proxy shares one.
    expected = ("note: md.cpt is missing. Continuing from md.prev.cpt", "note: N640 no core of its own for: proxy")
    assert [note for note in notes if not note.startswith(expected)] == []
    assert process.returncode == 6
    assert [pid for pid in ranks if is_running(pid)] == []
    assert list(Path("/dev/shm").glob("*parhelion*")) == []
    return last
