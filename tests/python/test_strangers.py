# SPDX-License-Identifier: Apache-2.0
"""Processes that a launcher has started, and who is not one of them: a stranger where rank 0 is looked for, files in the place of the secret
that are no secret, a second start of the same run, a launcher that is killed. On loopback.

The program is $PARHELION_PROGRAM.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launchers import DEADLINE, LAUNCHERS, environment, ends, free_port, is_here, wait_until_begun
from processes import is_running
from runs import RUN, SHORT, assert_same_outputs, command, folder_with, run

NOBODY = 65534


def rank_of_two(folder, rank, host, *options, timeout="20s", before=(), **more):
    options = ["-q", "--threads", 1, "--device", "cpu", "--comm-timeout", timeout, *options]
    variables = {"PARHELION_RANK": str(rank), "PARHELION_SIZE": "2", "PARHELION_HOST": host, **more}
    return subprocess.Popen([*before, *command(*options)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=os.environ | variables)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_listening(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def test_a_stranger_at_another_number_of_the_host_is_found(tmp_path):
    """He listens at ::1, where rank 1 would call first, before rank 0 does at 127.0.0.1."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a table of hosts of one's own takes root, and unshare")
    folder = folder_with(SHORT, tmp_path / "run")
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n::1 localhost\n")
    with socket.socket(socket.AF_INET6) as stranger:
        try:
            stranger.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 here")
        stranger.listen()
        port = stranger.getsockname()[1]
        inside = ["unshare", "-m", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh"]
        first = rank_of_two(folder, 0, f"localhost:{port}", before=inside)
        said, = ends([first], code=6, seconds=10)
    assert f"No connections can be accepted at localhost:{port}: [::1]:{port} is in use already" in said
    assert list(folder.glob("*.secret*")) == []


@pytest.mark.parametrize("host, code, words", [
    ("nosuchhost.invalid", 6, "There is no host 'nosuchhost.invalid'"), ("192.0.2.1", 6, "is not a number of this host alone"),
    ("0.0.0.0", 6, "is not a number of this host alone"), ("", 4, "E210")])
def test_rank_0_listens_where_it_is_said_or_not_at_all(tmp_path, host, code, words):
    folder, port = folder_with(SHORT, tmp_path), free_port()
    first = rank_of_two(folder, 0, f"{host}:{port}")
    said, = ends([first], code=code, seconds=10)
    assert words in said
    assert list(folder.glob("*.secret*")) == []


def test_a_second_start_leaves_the_secret_of_the_first_alone(tmp_path):
    folder, port = folder_with(SHORT, tmp_path), free_port()
    first = rank_of_two(folder, 0, f"127.0.0.1:{port}")
    secret = folder / "md.secret"
    wait_for(lambda: secret.exists() and secret.stat().st_size > 0)
    text = secret.read_text()
    said, = ends([rank_of_two(folder, 0, f"127.0.0.1:{port}")], code=6, seconds=10)
    assert "is in use already, by another run or by a stranger" in said
    said, = ends([rank_of_two(folder, 0, f"127.0.0.1:{free_port()}")], code=6, seconds=10)
    assert "is of another run with the same output, which waits for its processes" in said
    assert secret.read_text() == text
    assert "".join(ends([first, rank_of_two(folder, 1, f"127.0.0.1:{port}")])) == ""
    assert not secret.exists()


def test_the_secret_of_a_killed_run_is_replaced(tmp_path):
    folder = folder_with(SHORT, tmp_path)
    killed = rank_of_two(folder, 0, f"127.0.0.1:{free_port()}")
    secret = folder / "md.secret"
    wait_for(lambda: secret.exists() and secret.stat().st_size > 0)
    killed.kill()
    killed.communicate()
    port = free_port()
    assert "".join(ends([rank_of_two(folder, rank, f"127.0.0.1:{port}") for rank in range(2)])) == ""


def test_idle_connections_do_not_hold_up_a_start(tmp_path):
    folder, port = folder_with(SHORT, tmp_path), free_port()
    first = rank_of_two(folder, 0, f"127.0.0.1:{port}", timeout="10s")
    wait_for(lambda: is_listening(port))
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(400)]
    said = "".join(ends([first, rank_of_two(folder, 1, f"127.0.0.1:{port}", timeout="10s")]))
    assert re.fullmatch("note: A connection from 127.0.0.1 was turned away: who called did not greet. Others will be without a word.\n", said)
    for connection in idle:
        connection.close()


def test_all_trust_the_network_or_none_does(in_one, tmp_path):
    folder, port = folder_with(RUN, tmp_path / "all"), free_port()
    assert "".join(ends([rank_of_two(folder, rank, f"127.0.0.1:{port}", "--checkpoint", "0s", "--trust-network", timeout="60s") for rank in range(2)])) == ""
    assert_same_outputs(folder, in_one)
    folder, port = folder_with(SHORT, tmp_path / "one"), free_port()
    first = rank_of_two(folder, 0, f"127.0.0.1:{port}", "--trust-network", timeout=f"{DEADLINE}s")
    said = ends([first, rank_of_two(folder, 1, f"127.0.0.1:{port}", timeout=f"{DEADLINE}s")], code=6)
    assert f"E601 Rank 1 was turned away at 127.0.0.1:{port}: it differs in --trust-network." in said[1]
    run(folder_with(SHORT, tmp_path / "alone"), "--trust-network", code=2)


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "readable by all"])
def test_only_a_file_of_ones_own_is_a_secret(tmp_path, kind):
    folder, secret = folder_with(SHORT, tmp_path / "run"), tmp_path / "secret"
    if kind == "pipe":
        os.mkfifo(secret, 0o600)
    elif kind == "folder":
        secret.mkdir()
    elif kind == "device":
        secret.symlink_to("/dev/zero")
    else:
        secret.write_text("some sixteen characters and more\n")
        secret.chmod(0o644)
    first = rank_of_two(folder, 0, f"127.0.0.1:{free_port()}", PARHELION_SECRET_FILE=str(secret))
    said, = ends([first], code=6, seconds=10)
    assert ("chmod 600" if kind == "readable by all" else f"The secret {secret} is no file") in said


def test_a_folder_that_may_not_be_written_to_is_called_that(tmp_path):
    """By somebody who is not root, to whom nothing is forbidden."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("another user takes root, and setpriv")
    folder = folder_with(SHORT, tmp_path / "run")
    for place in [folder, *folder.parents]:
        if place.stat().st_mode & 0o055 != 0o055 and place.is_relative_to(tmp_path.parents[1]):
            place.chmod(0o755)
    nobody = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    result = subprocess.run([*nobody, *command("-q", "--threads", 1, "--steps", 1)], cwd=folder, capture_output=True, text=True, timeout=60)
    assert result.returncode == 6 and "md.log  open failed: Permission denied" in result.stderr, result.stderr


LIKE_TORCHRUN = """
import os, subprocess, sys, time
for rank in range(2):
    subprocess.Popen(sys.argv[2:], env=os.environ | {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": sys.argv[1]})
time.sleep(1000)
"""


def of_run(folder):
    """The processes of the run in the folder, by what they are."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = place.joinpath("cwd").resolve() == folder and place.joinpath("exe").resolve() == Path(command()[0]).resolve()
        except OSError:
            continue
        if is_ours and is_running(int(place.name)):
            found.append(int(place.name))
    return found


@pytest.mark.parametrize("launcher", ["as torchrun", "openmpi", "mpich"])
def test_ranks_end_with_their_launcher(tmp_path, launcher):
    folder = folder_with(RUN, tmp_path).resolve()
    words = command("-q", "--threads", 1, "--comm-timeout", "20s", "--steps", 1000000)
    if launcher == "as torchrun":
        whole = [sys.executable, "-c", LIKE_TORCHRUN, str(free_port()), *words]
    else:
        if not is_here(launcher):
            pytest.skip(f"no {launcher} here")
        whole = [*LAUNCHERS[launcher][0], "-n", "2", *words]
    known = environment(launcher) | {"PARHELION_HOST": f"127.0.0.1:{free_port()}"} if launcher != "as torchrun" else os.environ
    process = subprocess.Popen(whole, cwd=folder, env=known, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until_begun([process], folder)
    assert len(of_run(folder)) == 2
    process.kill()
    process.wait()
    wait_for(lambda: of_run(folder) == [], seconds=15)


STOPPED = [f"{transport} by {launcher}" for launcher in ["mpich", "openmpi", "openshmem"] for transport in LAUNCHERS[launcher][2]]


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("kind", STOPPED)
def test_a_stopped_rank_ends_the_run_also_where_the_other_is_in_a_call_of_mpi(tmp_path, kind, victim):
    transport, launcher = kind.split(" by ")
    if not is_here(launcher):
        pytest.skip(f"no {launcher} here")
    folder = folder_with(RUN, tmp_path).resolve()
    words = command("-q", "--threads", 1, "--comm-timeout", f"{DEADLINE}s", "--transport", transport, "--steps", 1000000)
    known = environment(launcher) | {"PARHELION_HOST": f"127.0.0.1:{free_port()}", "OMPI_MCA_mpi_yield_when_idle": "1"}
    process = subprocess.Popen([*LAUNCHERS[launcher][0], "-n", "2", *words], cwd=folder, env=known, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True)
    wait_until_begun([process], folder)
    name = re.compile(rb"\0(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)\0")
    ranks = {int(name.search(b"\0" + Path(f"/proc/{pid}/environ").read_bytes())[1]): pid for pid in of_run(folder)}
    os.kill(ranks[victim], signal.SIGSTOP)
    try:
        said = process.communicate(timeout=DEADLINE + 15)[0]  # silence, 4 s for the rank to come back, and the launcher
    except subprocess.TimeoutExpired:
        pytest.fail(f"still running: {of_run(folder)}")
    finally:
        for pid in of_run(folder):
            os.kill(pid, signal.SIGKILL)
        process.kill()
    assert re.search(rf"E601 (The process of rank {victim} on \S+ has been silent for [\d.]+ s\.|Rank \d .*)", said), said
    # MPICH's launcher kills the stopped process once the other one has ended, and gives the exit code of the one that it noticed first.
    assert process.returncode in ([6, 9] if launcher == "mpich" else [6]), said
