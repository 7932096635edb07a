# SPDX-License-Identifier: Apache-2.0
"""`parhelion run --imd`: what imdclient and MDAnalysis see of a run is what its files hold, and no client, however it behaves, changes
or holds up a run that was not told to wait."""
import importlib.util
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import MDAnalysis
import numpy as np
import pyedr
import pytest

from runs import DATA, SHORT, command, folder_with, missing, run

DISCONNECT, ENERGIES, COORDINATES, GO, HANDSHAKE, KILL, FORCES, PAUSE, RATE, SESSION, RESUME, TIME, BOX, VELOCITIES, FRAME_FORCES, WAIT = (*range(9), *range(10, 17))
ATOMS = 3000
EVERY = 10
# All that is streamed is also written, at the same steps.
WRITES = re.sub(r"^nst\w* = .*\n", "", SHORT, flags=re.M) + f"nsteps = 60\nnstlist = 7\nnstxout = {EVERY}\nnstvout = {EVERY}\nnstfout = {EVERY}\nnstenergy = {EVERY}\nnstcalcenergy = 5\n"


class Streaming:
    """A run that can be looked at."""

    def __init__(self, folder, *options, steps=60, mdp=SHORT, every=EVERY):
        folder_with(mdp, folder)
        self.folder = folder
        self.log = open(folder / "stderr", "w+")
        self.process = subprocess.Popen(command("--threads", 1, "--imd", 0, "--imd-every", every, "--steps", steps, *options), cwd=folder,
                                        stdout=subprocess.DEVNULL, stderr=self.log)
        self.port = int(self.said(r"IMD: .* at 127\.0\.0\.1:(\d+)"))

    def text(self):
        return re.sub(r"\s+", " ", (self.folder / "stderr").read_text())

    def said(self, pattern, seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            found = re.search(pattern, self.text())
            if found:
                return found[1] if found.groups() else found[0]
            assert self.process.poll() is None or re.search(pattern, self.text()), self.text()
            time.sleep(0.02)
        raise AssertionError(f"nothing like {pattern}: {self.text()}")

    def steps(self):
        return json.loads((self.folder / "md.status.json").read_text())["step"]

    def end(self, code=0, seconds=120):
        assert self.process.wait(timeout=seconds) == code, self.text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Client:
    """Bytes to and from a server."""

    def __init__(self, streaming, go=True, version=3, receive_buffer=None):
        end = time.time() + 20
        while True:
            self.socket = socket.socket()
            self.socket.settimeout(30)
            if receive_buffer:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            self.socket.connect(("127.0.0.1", streaming.port))
            try:
                greeting = self.header()
                break
            except (EOFError, ConnectionResetError):  # the one before has not been missed yet
                assert time.time() < end
                time.sleep(0.1)
        assert greeting == (HANDSHAKE, struct.unpack(">i", struct.pack("=i", version))[0])
        if version == 3:
            assert self.header() == (SESSION, 7) and self.read(7) == bytes([1, 1, 1, 1, 0, 1, 1])
        if go:
            self.send(GO)

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def header(self):
        return struct.unpack(">ii", self.read(8))

    def send(self, kind, value=0, body=b""):
        self.socket.sendall(struct.pack(">ii", kind, value) + body)

    def frame(self):
        """A frame of version 3, each packet in its place."""
        assert self.header() == (TIME, 1)
        dt, moment, step = struct.unpack("=ddq", self.read(24))
        assert self.header() == (ENERGIES, 1)
        energies = struct.unpack("=i9f", self.read(40))
        assert energies[0] == step
        assert self.header() == (BOX, 1)
        box = np.frombuffer(self.read(36), np.float32).reshape(3, 3)
        arrays = []
        for kind in (COORDINATES, VELOCITIES, FRAME_FORCES):
            assert self.header() == (kind, ATOMS)
            arrays.append(np.frombuffer(self.read(12 * ATOMS), np.float32).reshape(-1, 3))
        return {"dt": dt, "time": moment, "step": step, "energies": energies[1:], "box": box, "arrays": arrays}

    def is_closed(self):
        self.socket.settimeout(20)
        try:
            while self.socket.recv(1 << 16):
                pass
            return True
        except ConnectionResetError:
            return True

    def frames(self):
        found = []
        try:
            while True:
                found.append(self.frame())
        except (EOFError, ConnectionResetError):
            return found


def expect_frames_of_files(folder, frames, steps):
    """Frames of a stream, in units of IMD, against what the run has written."""
    assert [frame["step"] for frame in frames] == steps
    written = MDAnalysis.Universe(str(DATA / "conf.gro"), str(folder / "md.trr")).trajectory  # its units are those of IMD
    edr = pyedr.edr_to_dict(str(folder / "md.edr"))
    of_step = {round(moment / 0.002): i for i, moment in enumerate(edr["Time"])}
    for frame in frames:
        of_file = written[[round(one.time / 0.002) for one in written].index(frame["step"])]
        assert frame["dt"] == pytest.approx(0.002) and frame["time"] == pytest.approx(0.002 * frame["step"])
        for ours, theirs in zip(frame["arrays"], (of_file.positions, of_file.velocities, of_file.forces)):
            assert np.abs(ours - theirs).max() <= 2e-6 * np.abs(theirs).max()  # of single precision, rounded once more by the factor 10
        assert np.abs(frame["box"] - of_file.triclinic_dimensions).max() < 1e-4
        row = of_step[frame["step"]]
        temperature, total, potential, lj, coulomb, bonds, angles, dihedrals, impropers = frame["energies"]
        assert (temperature, total, potential) == pytest.approx(tuple(edr[name][row] for name in ("Temperature", "Total Energy", "Potential")), rel=1e-6)
        assert lj == pytest.approx(edr["LJ (SR)"][row] + edr["LJ-14"][row], rel=1e-6)
        assert coulomb == pytest.approx(edr["Coulomb (SR)"][row] + edr["Coulomb-14"][row], rel=1e-6)
        assert lj + coulomb + bonds + angles + dihedrals + impropers == pytest.approx(potential, rel=1e-5)


STEPS = list(range(0, 61, EVERY))


def test_a_client_that_is_waited_for_sees_every_frame_as_it_is_written(tmp_path):
    with Streaming(tmp_path, "--imd-wait", mdp=WRITES) as streaming:
        frames = Client(streaming).frames()
        streaming.end()
    expect_frames_of_files(tmp_path, frames, STEPS)


def expect_imdclient():
    if importlib.util.find_spec("imdclient") is None:
        missing("imdclient")


IMDCLIENT = """
import sys
import numpy as np
from imdclient.IMDClient import IMDClient
client = IMDClient("localhost", int(sys.argv[1]), int(sys.argv[2]))
frames = []
while True:
    try:
        frame = client.get_imdframe()
    except EOFError:
        break
    energies = [frame.energies[name] for name in ("temperature", "total_energy", "potential_energy", "van_der_walls_energy", "coulomb_energy", "bonds_energy", "angles_energy",
                                                  "dihedrals_energy", "improper_dihedrals_energy")]
    frames.append((frame.dt, frame.time, frame.step, energies, frame.box.copy(), frame.positions.copy(), frame.velocities.copy(), frame.forces.copy()))
client.stop()
names = ("dt", "time", "step", "energies", "box", "positions", "velocities", "forces")
np.savez("frames.npz", **{name: np.array([frame[i] for frame in frames]) for i, name in enumerate(names)})
"""


def test_imdclient_sees_every_frame_as_it_is_written(tmp_path):
    expect_imdclient()
    with Streaming(tmp_path, "--imd-wait", mdp=WRITES) as streaming:
        subprocess.run([sys.executable, "-c", IMDCLIENT, str(streaming.port), str(ATOMS)], cwd=tmp_path, check=True, timeout=120)
        streaming.end()
    seen = np.load(tmp_path / "frames.npz")
    frames = [{"dt": seen["dt"][i], "time": seen["time"][i], "step": seen["step"][i], "energies": seen["energies"][i], "box": seen["box"][i],
               "arrays": [seen["positions"][i], seen["velocities"][i], seen["forces"][i]]} for i in range(len(seen["step"]))]
    expect_frames_of_files(tmp_path, frames, STEPS)


MDANALYSIS = """
import sys
import MDAnalysis
universe = MDAnalysis.Universe(sys.argv[2], f"imd://localhost:{sys.argv[1]}")
print([ts.data["step"] for ts in universe.trajectory])
"""


def test_mdanalysis_reads_a_run_as_a_trajectory(tmp_path):
    expect_imdclient()
    with Streaming(tmp_path, "--imd-wait") as streaming:
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", MDANALYSIS, str(streaming.port), str(DATA / "conf.gro")], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        streaming.end()
    assert done.returncode == 0 and done.stdout.strip().endswith(str(STEPS)), done.stdout + done.stderr


def test_files_are_the_same_whoever_looks_on(tmp_path):
    endings = (".xtc", ".trr", ".edr", ".gro")
    alone, ignored, watched = (tmp_path / name for name in ("alone", "ignored", "watched"))
    for folder in (alone, ignored, watched):
        folder.mkdir()
    run(folder_with(SHORT, alone), "-q", "--threads", 1)
    with Streaming(ignored, every=3) as streaming:  # also where no energies are computed otherwise
        streaming.end()
    with Streaming(watched, "--imd-wait", every=3) as streaming:
        assert len(Client(streaming).frames()) == 21
        streaming.end()
    for ending in endings:
        expected = (alone / f"md{ending}").read_bytes()
        assert expected and all((folder / f"md{ending}").read_bytes() == expected for folder in (ignored, watched)), ending


def test_a_frame_belongs_to_several_ranks_as_to_one(tmp_path):
    for options in (["--ranks", 2], ["--ranks", 2, "--processes", 2]):
        folder = tmp_path / str(len(options))
        folder.mkdir()
        with Streaming(folder, "--imd-wait", *options, mdp=WRITES) as streaming:
            frames = Client(streaming).frames()
            streaming.end()
        expect_frames_of_files(folder, frames, STEPS)


# --- clients that do not behave

MANY = 1000000  # steps of a run that is stopped


def goes_on(streaming):
    """It takes more steps."""
    before = streaming.steps()
    end = time.time() + 60
    while streaming.steps() == before:
        assert time.time() < end and streaming.process.poll() is None, streaming.text()
        time.sleep(0.2)


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    with Streaming(tmp_path_factory.mktemp("endless"), steps=MANY) as streaming:
        yield streaming
        streaming.process.send_signal(signal.SIGTERM)
        streaming.end(code=3)


@pytest.mark.parametrize("words", [b"GET / HTTP/1.1\r\n\r\n", os.urandom(100000), struct.pack(">ii", GO, 0) + struct.pack(">ii", 99, 0), struct.pack(">ii", PAUSE, 0),
                                   struct.pack(">ii", GO, 0) + struct.pack(">ii", FORCES, -1), struct.pack(">ii", GO, 0) + struct.pack(">ii", -1, 1 << 30)],
                         ids=["http", "noise", "unknown type", "no go", "forces of fewer than none", "negative type"])
def test_who_sends_what_is_no_packet_is_left_alone(endless, words):
    client = Client(endless, go=False)
    try:
        client.socket.sendall(words)
    except (ConnectionResetError, BrokenPipeError):
        pass  # closed while it sends
    assert client.is_closed()
    goes_on(endless)
    assert Client(endless).frame()["dt"] == pytest.approx(0.002)  # the next one is served


@pytest.mark.parametrize("words", [b"", b"\0\0\0", struct.pack(">ii", GO, 0)[:7]], ids=["nothing", "three bytes", "seven"])
def test_who_says_nothing_or_half_a_word_is_not_waited_for_long(endless, words):
    client = Client(endless, go=False)
    client.socket.sendall(words)
    goes_on(endless)
    assert client.is_closed()  # after five seconds


def test_who_reads_slowly_gets_whole_frames_and_holds_up_nothing(endless):
    client = Client(endless, receive_buffer=4096)
    begin = endless.steps()
    while endless.steps() < begin + 2000:  # twenty megabytes of frames
        goes_on(endless)
    steps = [client.frame()["step"], client.frame()["step"]]
    while steps[-1] - steps[-2] == EVERY:  # up to where some were left out, none in part
        steps.append(client.frame()["step"])
    assert steps == sorted(steps) and len(steps) < 200
    client.socket.close()


def test_who_is_gone_in_the_middle_is_forgotten(endless):
    client = Client(endless)
    client.read(1000)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not an end
    client.socket.close()
    goes_on(endless)
    assert Client(endless).frame()


def test_one_looks_on_at_a_time(endless):
    first = Client(endless)
    first.frame()
    second = socket.create_connection(("127.0.0.1", endless.port), timeout=30)
    assert second.recv(100) == b""
    first.frame()
    first.send(DISCONNECT)
    assert first.is_closed()
    assert Client(endless).frame()


def test_requests_that_no_run_needs_to_follow_are_not(endless):
    client = Client(endless)
    client.send(KILL)
    client.send(WAIT, 1)
    client.send(FORCES, 2, struct.pack("=2i6f", 0, 1, *range(6)))
    client.send(PAUSE)
    endless.said("it may not")
    endless.said("forces that .* do not act")
    goes_on(endless)
    client.send(RESUME)
    client.send(RATE, 3 * EVERY)
    frames = [client.frame() for _ in range(30)]
    assert frames[-1]["step"] - frames[-2]["step"] >= 3 * EVERY
    client.socket.close()


# --- what a client may ask for

def test_a_client_may_end_a_run_that_allows_it(tmp_path):
    with Streaming(tmp_path, "--imd-kill", steps=MANY) as streaming:
        Client(streaming).send(KILL)
        streaming.end(code=3)
        assert "ends the run" in streaming.text()


def test_a_run_that_waits_stands_still_while_it_is_paused_and_while_nobody_looks_on(tmp_path):
    with Streaming(tmp_path, "--imd-wait", steps=MANY) as streaming:
        time.sleep(1)
        assert streaming.steps() == 0
        client = Client(streaming)
        client.frame()
        client.send(PAUSE)
        client.socket.close()  # a pause ends with who has asked for it; the run waits for the next
        time.sleep(2)
        before = streaming.steps()
        time.sleep(2)
        assert streaming.steps() == before
        client = Client(streaming)
        assert client.frame()["step"] > 0
        client.send(PAUSE)
        client.send(RESUME)
        client.send(WAIT, 0)  # from now on it goes on alone
        client.frame()
        client.send(DISCONNECT)
        goes_on(streaming)
        streaming.process.send_signal(signal.SIGTERM)
        streaming.end(code=3)


def test_a_run_that_waits_can_be_stopped(tmp_path):
    with Streaming(tmp_path, "--imd-wait", steps=MANY) as streaming:
        streaming.process.send_signal(signal.SIGTERM)
        streaming.end(code=3)


def test_a_run_that_waits_for_who_reads_no_more_can_be_stopped(tmp_path):
    with Streaming(tmp_path, "--imd-wait", steps=MANY) as streaming:
        client = Client(streaming, receive_buffer=4096)
        client.frame()
        before = -1
        while streaming.steps() != before:  # until nothing has room any more
            before = streaming.steps()
            time.sleep(2.5)
        assert before > 0
        begin = time.time()
        streaming.process.send_signal(signal.SIGTERM)
        streaming.end(code=3)
        assert time.time() - begin < 40  # five seconds of farewell; with a minute's it would take longer


def test_version_2_has_energies_and_positions(tmp_path):
    with Streaming(tmp_path, "--imd-wait", "--imd-version", 2) as streaming:
        client = Client(streaming, version=2)
        client.send(PAUSE)
        client.send(PAUSE)  # the second one ends the first
        for step in STEPS:
            assert client.header() == (ENERGIES, 1)
            assert struct.unpack("=i9f", client.read(40))[0] == step
            assert client.header() == (COORDINATES, ATOMS)
            client.read(12 * ATOMS)
        streaming.end()


# --- what is refused

def test_what_cannot_be_is_refused_before_anything_is_written(tmp_path):
    folder_with(SHORT, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        text = run(tmp_path, "-q", "--imd", taken.getsockname()[1], code=6)
    assert "E601" in text and "is in use already" in text
    assert "--imd-wait requires --imd" in run(tmp_path, "-q", "--imd-wait", code=2)
    folder_with(SHORT.replace("integrator = md", "integrator = steep"), tmp_path)
    assert "E201" in run(tmp_path, "-q", "--imd", 0, code=4)
    assert {path.name for path in tmp_path.iterdir()} == {"md.mdp"}
