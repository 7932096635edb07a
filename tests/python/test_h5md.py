# SPDX-License-Identifier: Apache-2.0
"""A .h5md has what the .trr of the same run has, in h5py and in MDAnalysis; it is continued, and can be read after a kill."""
import importlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import amber_files
from runs import DATA, RUN, SHORT, command, folder_with, missing, run


def reader(module):
    try:
        return importlib.import_module(module)
    except ImportError:
        missing(module)


def changed(mdp, **values):
    values = {name.replace("_", "-"): value for name, value in values.items()}
    kept = [line for line in mdp.splitlines() if line.split(" =")[0] not in values]
    return "\n".join([*kept, *(f"{name} = {value}" for name, value in values.items())]) + "\n"


ALL = changed(SHORT, nstxout=10, nstvout=10, nstfout=10)
needs_plugin = pytest.mark.skipif("PARHELION_PROGRAM" in os.environ and not Path(os.environ["PARHELION_PROGRAM"]).with_name(
    "libparhelion_h5md.so").exists(), reason="libparhelion_h5md.so was not built")


def elements(path):
    """Steps, times and values of each time-dependent element, boxes among them."""
    with reader("h5py").File(path, "r") as file:
        group = file["particles/trajectory"]
        names = [name for name in ("position", "velocity", "force", "box/edges") if name in group]
        return {name: tuple(group[f"{name}/{part}"][:] for part in ("step", "time", "value")) for name in names}


def trr_frames(path):
    formats = reader("MDAnalysis.lib.formats.libmdaxdr")
    with formats.TRRFile(str(path)) as file:
        return list(file)


def expect_as_trr(folder):
    """Arrays are bitwise those of the .trr. MDAnalysis reads those as floats, also where the file has doubles."""
    got = elements(folder / "md.h5md")
    frames = trr_frames(folder / "md.trr")
    boxes = []
    for name, has, array in (("position", "hasx", "x"), ("velocity", "hasv", "v"), ("force", "hasf", "f")):
        of_array = [frame for frame in frames if getattr(frame, has)]
        assert (name in got) == bool(of_array)
        if not of_array:
            continue
        steps, times, values = got[name]
        assert list(steps) == [frame.step for frame in of_array]
        np.testing.assert_array_equal(times.astype(np.float32), np.array([frame.time for frame in of_array], np.float32))
        np.testing.assert_array_equal(values.astype(np.float32), [getattr(frame, array) for frame in of_array])
        boxes = boxes or [frame.box for frame in of_array]
    edges = got["box/edges"][2]
    edges = edges if edges.ndim == 3 else np.array([np.diag(edge) for edge in edges])
    np.testing.assert_array_equal(edges.astype(np.float32), boxes)
    return got


def info(name, folder, code=0):
    result = subprocess.run([os.environ["PARHELION_PROGRAM"], "info", name, *(["--json"] if code == 0 else [])], cwd=folder, capture_output=True, text=True)
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout) if code == 0 else result.stderr


@needs_plugin
def test_it_has_the_frames_of_the_trr(tmp_path):
    folder = folder_with(ALL, tmp_path)
    assert "md.h5md each 0.02 ps" in run(folder, "--h5md")
    got = expect_as_trr(folder)
    assert len(got["position"][0]) == 7 and got["force"][2].dtype == np.float32


@needs_plugin
def test_mdanalysis_reads_the_values_of_the_trr(tmp_path):
    mda = reader("MDAnalysis")
    reader("h5py")
    folder = folder_with(ALL, tmp_path)
    run(folder, "-q", "--h5md")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (mda.Universe(str(folder / "md.gro"), str(folder / name), format=kind) for name, kind in (("md.h5md", "H5MD"), ("md.trr", "TRR")))
    assert len(ours.trajectory) == len(theirs.trajectory) == 7
    for a, b in zip(ours.trajectory, theirs.trajectory):
        assert a.time == pytest.approx(b.time, rel=1e-6) and a.data["step"] == b.data["step"]
        np.testing.assert_allclose(a.dimensions, b.dimensions, rtol=1e-6)
        for array in ("positions", "velocities", "forces"):
            np.testing.assert_allclose(getattr(a, array), getattr(b, array), rtol=3e-7, err_msg=array)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mda.Universe(str(folder / "md.h5md"), format="H5MD", topology_format="MINIMAL").atoms.n_atoms == 3000  # without a topology


@needs_plugin
def test_mdanalysis_reads_a_run_that_ends_between_two_frames(tmp_path):
    """The last step has all arrays: MDAnalysis takes the forces with the number of the position."""
    universe = reader("MDAnalysis").Universe
    folder = folder_with(ALL, tmp_path)
    run(folder, "-q", "--h5md", "--steps", 33)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = [(frame.data["step"], frame.has_velocities, frame.has_forces) for frame in universe(folder / "md.gro", folder / "md.h5md").trajectory]
    assert steps == [(step, True, True) for step in (0, 10, 20, 30, 33)]


@needs_plugin
def test_each_array_has_its_own_interval_and_each_atom_its_constants(tmp_path):
    folder = folder_with(changed(SHORT, nstxout=0, nstvout=15, nstfout=20), tmp_path)
    run(folder, "-q", "--h5md", "--precision", "double")
    got = expect_as_trr(folder)
    assert list(got) == ["velocity", "force", "box/edges"]
    for name in ("velocity", "force"):
        values = got[name][2]
        assert values.dtype == np.float64 and np.mean(values != values.astype(np.float32)) > 0.99, name
    assert list(got["velocity"][0]) == [0, 15, 30, 45, 60] and list(got["force"][0]) == [0, 20, 40, 60]
    h5py = reader("h5py")
    with h5py.File(folder / "md.h5md", "r") as file:
        atoms = file["particles/trajectory"]
        assert list(file["h5md"].attrs["version"]) == [1, 1] and file["h5md/creator"].attrs["name"] == "Parhelion"
        assert list(atoms["box"].attrs["boundary"]) == ["periodic"] * 3 and atoms["box"].attrs["dimension"] == 3
        # The box has the steps of the first array, as the convention wants: by a hard link.
        assert atoms["box/edges/step"] == atoms["velocity/step"] and atoms["box/edges/time"] == atoms["velocity/time"]
        assert atoms["velocity/value"].compression == "gzip" and atoms["velocity/value"].chunks == (1, 3000, 3)
        names = {number: name for name, number in h5py.check_enum_dtype(atoms["species"].dtype).items()}
        structure = (folder / "md.gro").read_text().splitlines()[2:-1]
        ethanol_and_water = {"O": (15.9994, 15.999), "H": (1.008, 1.00794), "C": (12.011, 12.01)}
        assert list(atoms["id"]) == list(range(1, 3001)) and abs(sum(atoms["charge"])) < 1e-6
        for line, mass, kind in zip(structure, atoms["mass"], atoms["species"]):
            element = line[10:15].strip()[0]
            assert min(abs(mass - each) for each in ethanol_and_water[element]) < 0.02, line
            assert names[kind][0].upper() == element or names[kind][0] in "oh", line


@needs_plugin
def test_without_a_trr_it_has_the_positions_of_the_xtc_before_their_rounding(tmp_path):
    (tmp_path / "part.ndx").write_text("[ System ]\n" + " ".join(map(str, range(1, 3001))) + "\n[ part ]\n" + " ".join(map(str, range(3, 1500, 7))) + "\n")
    folder = folder_with(changed(SHORT, nstxout=0, nstvout=0, nstxout_compressed=10, compressed_x_grps="part"), tmp_path)
    run(folder, "-q", "--h5md", "-n", "part.ndx")
    got = elements(folder / "md.h5md")
    assert list(got) == ["position", "box/edges"]
    with reader("MDAnalysis.lib.formats.libmdaxdr").XTCFile(str(folder / "md.xtc")) as file:
        frames = list(file)
    steps, times, values = got["position"]
    assert list(steps) == [frame.step for frame in frames] == [0, 10, 20, 30, 40, 50, 60]
    off = np.abs(values - [frame.x for frame in frames])
    assert 4.9e-4 < off.max() < 5.01e-4  # half of the .xtc's 0.001 nm
    with reader("h5py").File(folder / "md.h5md", "r") as file:
        assert list(file["particles/trajectory/id"]) == list(range(3, 1500, 7))


@needs_plugin
def test_atom_types_of_one_name_are_told_apart(tmp_path):
    amber_files.solution().write(tmp_path)
    prmtop = (tmp_path / "amber.prmtop").read_text()
    before, types = prmtop.split("%FLAG AMBER_ATOM_TYPE")
    (tmp_path / "amber.prmtop").write_text(before + "%FLAG AMBER_ATOM_TYPE" + types.replace("X2", "N ", prmtop.count("X2")))
    folder = folder_with(changed(SHORT, integrator="steep", nstxout=1, constraints="none", tcoupl="no", pcoupl="no", continuation="no"), tmp_path)
    run(folder, "-q", "--h5md", "--steps", 1, structure="amber.rst7", topology="amber.prmtop")
    h5py = reader("h5py")
    with h5py.File(folder / "md.h5md", "r") as file:
        species = file["particles/trajectory/species"]
        numbers = h5py.check_enum_dtype(species.dtype)
        assert numbers["N"] == 0 and numbers["N_2"] == 2 and {0, 2} < set(species[:])


@needs_plugin
def test_a_tilted_box_has_three_vectors(tmp_path):
    lines = (DATA / "conf.gro").read_text().splitlines()
    x, y, z = lines[-1].split()[:3]
    lines[-1] = f"{x} {y} {z} 0 0 0.002 0 0.003 0.001"
    folder = folder_with(changed(ALL, nsteps=20, pcoupl="no"), tmp_path)
    (folder / "tilted.gro").write_text("\n".join(lines) + "\n")
    run(folder, "-q", "--h5md", "--allow", "W126", structure="tilted.gro")
    edges = expect_as_trr(folder)["box/edges"][2]
    assert edges.shape == (3, 3, 3) and edges[0][1][0] == np.float32(0.002) and edges[0][2][0] == np.float32(0.003)


# --- continuing

OFTEN = changed(RUN, nstxout=1, nstvout=2, nstfout=5, nstxout_compressed=0)


@pytest.fixture(scope="module")
def through(tmp_path_factory):
    folder = folder_with(OFTEN, tmp_path_factory.mktemp("through"))
    run(folder, "-q", "--h5md", "--threads", 1)
    return elements(folder / "md.h5md")


def expect_same(got, expected):
    assert list(got) == list(expected)
    for name in expected:
        for a, b in zip(got[name], expected[name]):
            np.testing.assert_array_equal(a, b, name)


@needs_plugin
def test_a_longer_run_is_the_same_as_one_asked_for_at_once(through, tmp_path):
    folder = folder_with(OFTEN, tmp_path)
    for steps in (0, 33, 200):
        run(folder, "-q", "--h5md", "--steps", steps)
        assert elements(folder / "md.h5md")["position"][0][-1] == steps
    run(folder, "-q", "--h5md")
    expect_same(elements(folder / "md.h5md"), through)
    expect_as_trr(folder)


def expect_beginning_of(path, through, kept=None):
    """Each array that is there begins as that of a run that went on; `kept`: numbers of frames of x, v, f of which this is known. Returns their numbers."""
    got = elements(path)
    frames = []
    for i, (name, (steps, times, values)) in enumerate(got.items()):
        expected = through[name]
        n = len(values) if kept is None else kept[i % 3]
        assert len(values) >= n
        assert len(steps) >= n and len(times) >= n
        frames.append(len(values))
        np.testing.assert_array_equal(steps[:n], expected[0][:n])
        np.testing.assert_array_equal(times[:n], expected[1][:n])
        np.testing.assert_array_equal(values[:n], expected[2][:n], name)
    return frames


@needs_plugin
def test_it_can_be_read_after_any_kill_and_goes_on(through, tmp_path):
    """Also while the run goes on: with no lock, and no mark of a writer."""
    folder = folder_with(OFTEN, tmp_path)
    chance = random.Random(3)
    killed, read, most = 0, 0, 0
    for _ in range(int(os.environ.get("PARHELION_TEST_KILLS", 5))):
        process = subprocess.Popen(command("-q", "--h5md", "--checkpoint", "0.05s", "--threads", 1), cwd=folder, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + chance.uniform(0.3, 1.5)
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()
        killed += process.communicate() is not None and process.returncode == -signal.SIGKILL
        if (folder / "md.h5md").exists():
            frames = expect_beginning_of(folder / "md.h5md", through)[0]
            read, most = read + 1, max(most, frames)
    assert killed > 0 and read > 0 and most > 0
    run(folder, "-q", "--h5md", "--threads", 1)
    expect_same(elements(folder / "md.h5md"), through)


RECORDER = r"""
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
/* Appends offset, size and bytes of a change of a .h5md to writes.bin; a size of -1 tells of a new length. */
static void record(int file, int64_t at, int64_t size, const void* bytes)
{
    char link[64] = "/proc/self/fd/", name[4096] = "";
    char digits[16];
    int n = 0;
    for (int rest = file; n == 0 || rest > 0; rest /= 10) { digits[n++] = '0' + rest % 10; }
    for (char* end = link + strlen(link); n > 0;) { *end++ = digits[--n], *end = 0; }
    if (readlink(link, name, sizeof name - 1) < 5 || strcmp(name + strlen(name) - 5, ".h5md") != 0) { return; }
    int log = open("writes.bin", O_WRONLY | O_CREAT | O_APPEND, 0666);
    write(log, &at, 8), write(log, &size, 8);
    if (size > 0) { write(log, bytes, size); }
    close(log);
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) { record(file, at, size, bytes); return syscall(SYS_pwrite64, file, bytes, size, at); }
ssize_t pwrite64(int file, const void* bytes, size_t size, off_t at) { return pwrite(file, bytes, size, at); }
int ftruncate(int file, off_t length) { record(file, length, -1, 0); return syscall(SYS_ftruncate, file, length); }
int ftruncate64(int file, off_t length) { return ftruncate(file, length); }
"""


@needs_plugin
def test_it_can_be_read_whichever_write_was_the_last(through, tmp_path):
    """A library in front of the C library records all changes of the file. The file is made anew of the first of them, for each number."""
    (tmp_path / "recorder.c").write_text(RECORDER)
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", tmp_path / "recorder.so", tmp_path / "recorder.c"], check=True)
    folder = folder_with(OFTEN, tmp_path / "run")
    # The second part drops the frames of steps after its checkpoint.
    for steps in (10, 20):
        subprocess.run(command("-q", "--h5md", "--threads", 1, "--steps", steps), cwd=folder, check=True, env={**os.environ, "LD_PRELOAD": str(tmp_path / "recorder.so")})
        if steps == 10:
            kept, first_part = info("md.cpt", folder)["frames_of_h5md"], (folder / "writes.bin").stat().st_size
    writes, at = (folder / "writes.bin").read_bytes(), 0
    content, counts, has_dropped, path = bytearray(), [], False, tmp_path / "part.h5md"
    while at < len(writes):
        offset, size = np.frombuffer(writes[at:at + 16], np.int64)
        at += 16
        if size < 0:
            content = content[:offset] + bytes(max(0, offset - len(content)))
        else:
            content += bytes(max(0, offset + size - len(content)))
            content[offset:offset + size] = writes[at:at + size]
            at += size
        path.write_bytes(content)
        try:
            # Frames that are being dropped may be zeros, until all are.
            drops = at > first_part and not has_dropped
            frames = expect_beginning_of(path, through, kept if drops else None)
            has_dropped = has_dropped or (drops and frames == [*kept, kept[0]])
            counts.append(frames[0])
        except (OSError, KeyError):
            counts.append(-1)  # nothing can be read before the file has all its parts
    assert bytes(content) == (folder / "md.h5md").read_bytes() and counts[-1] == 21 and has_dropped
    first = counts.index(0)
    assert set(counts[:first]) == {-1} and min(counts[first:]) == 0 and set(counts) == set(range(-1, 22)) and len(counts) > 200


@needs_plugin
def test_a_full_disk_leaves_whole_frames_and_the_run_goes_on(tmp_path):
    mdp = changed(SHORT, nstxout=0, nstvout=0, nstxout_compressed=2)
    whole, folder = folder_with(mdp, tmp_path / "whole"), folder_with(mdp, tmp_path / "limited")
    run(whole, "-q", "--h5md")
    expected = elements(whole / "md.h5md")
    room = (whole / "md.h5md").stat().st_size * 2 // 3
    assert room > (whole / "md.xtc").stat().st_size and room > 2 * (whole / "md.gro").stat().st_size
    limited = subprocess.run(command("-q", "--h5md", "--checkpoint", "0s"), cwd=folder, capture_output=True, text=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    assert limited.returncode == 6 and "E601 md.h5md  write failed: File too large" in limited.stderr
    assert 10 < expect_beginning_of(folder / "md.h5md", expected)[0] < 31
    content = (folder / "md.h5md").read_bytes()
    assert len(content) == int.from_bytes(content[28:36], "little") <= room  # the end that the superblock tells: no part of a frame is behind it
    run(folder, "-q", "--h5md")
    expect_same(elements(folder / "md.h5md"), expected)


@needs_plugin
def test_a_file_that_cannot_be_continued_is_refused_and_nothing_is_changed(tmp_path):
    folder = folder_with(changed(ALL, nstxout_compressed=10), tmp_path)
    run(folder, "-q", "--h5md", "--steps", 40)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    path = folder / "md.h5md"

    def refused(*words):
        text = run(folder, "-q", "--h5md", code=4)
        assert "E286 md.h5md" in text and all(word in text for word in words) and "--new" in text
        assert (folder / "md.xtc").read_bytes() == whole["md.xtc"]

    path.unlink()
    refused("is missing")
    path.write_bytes(whole["md.h5md"][:3000])
    refused("damaged")
    h5py = reader("h5py")
    path.write_bytes(whole["md.h5md"])
    with h5py.File(path, "r+") as file:
        file["particles/trajectory/velocity/value"].resize(2, axis=0)
    refused("has 2 frames", "but 4 had been written")
    path.write_bytes(whole["md.h5md"])
    (folder / "md.mdp").write_text(changed(ALL, nstxout_compressed=10))
    run(folder, "-q", "--h5md")
    expect_as_trr(folder)


@needs_plugin
@pytest.mark.parametrize("begins_with", ["all", "group"])
def test_other_atoms_are_not_added_to_a_file(begins_with, tmp_path):
    """nstxout may change between two parts of a run, and decides which atoms the file would have."""
    (tmp_path / "part.ndx").write_text("[ System ]\n" + " ".join(map(str, range(1, 3001))) + "\n[ part ]\n" + " ".join(map(str, range(3, 1500, 7))) + "\n")
    mdps = {"group": changed(SHORT, nstxout=0, nstvout=0, nstxout_compressed=10, compressed_x_grps="part")}
    mdps["all"] = changed(mdps["group"], nstxout=10)
    folder = folder_with(mdps.pop(begins_with), tmp_path)
    run(folder, "-q", "--h5md", "--steps", 20, "-n", "part.ndx")
    before = (folder / "md.h5md").read_bytes()
    (folder / "md.mdp").write_text(mdps.popitem()[1])
    text = run(folder, "-q", "--h5md", "-n", "part.ndx", code=4)
    assert "E286 md.h5md" in text and "other atoms" in text
    assert (folder / "md.h5md").read_bytes() == before


@needs_plugin
def test_a_run_does_not_go_on_without_its_file_unless_that_is_moved_away(tmp_path):
    folder = folder_with(ALL, tmp_path)
    run(folder, "-q", "--h5md", "--steps", 20)
    text = run(folder, "-q", "--steps", 40, code=4)
    assert "E292 md.h5md" in text and "--h5md" in text
    (folder / "md.h5md").rename(folder / "kept.h5md")
    run(folder, "-q", "--steps", 40)
    assert not (folder / "md.h5md").exists()


@needs_plugin
def test_a_new_run_keeps_the_file_of_an_earlier_one(tmp_path):
    folder = folder_with(ALL, tmp_path)
    run(folder, "-q", "--h5md", "--steps", 20)
    before = (folder / "md.h5md").read_bytes()
    run(folder, "-q", "--steps", 20, "--new")
    assert (folder / "md.h5md").read_bytes() == before  # a run that writes no such file leaves it alone
    run(folder, "-q", "--h5md", "--steps", 20, "--new")
    assert (folder / "#md.h5md.1#").read_bytes() == before == (folder / "md.h5md").read_bytes()  # equal runs leave equal files


@needs_plugin
def test_a_process_with_another_hdf5_writes_the_same(tmp_path, monkeypatch):
    """h5py has brought its own HDF5 before the module opens the plugin, which needs Debian's."""
    h5py, ph = reader("h5py"), reader("parhelion")
    folder = folder_with(SHORT, tmp_path)
    run(folder, "-q", "--h5md", "--threads", 1, "--steps", 20)
    monkeypatch.chdir(folder)
    ph.run("md.mdp", DATA / "conf.gro", DATA / "topol.top", steps=20, h5md=True, prefix="module", threads=1, reproducible=True)
    assert h5py.version.hdf5_version
    expect_same(elements(folder / "module.h5md"), elements(folder / "md.h5md"))


# --- what is missing

def test_without_the_plugin_a_run_says_what_to_install_and_writes_nothing(tmp_path):
    folder = folder_with(ALL, tmp_path)
    program = folder / "elsewhere" / "parhelion"
    program.parent.mkdir()
    shutil.copy2(os.environ["PARHELION_PROGRAM"], program)
    words = [str(program), *command("-q", "--h5md")[1:]]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 4 and "E285" in result.stderr and "libhdf5" in result.stderr and not (folder / "md.log").exists()
    (program.parent / "libparhelion_h5md.so").write_text("no library")
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 4 and "E285" in result.stderr and not (folder / "md.log").exists()


@needs_plugin
def test_a_run_without_a_trajectory_is_refused(tmp_path):
    folder = folder_with(changed(SHORT, nstxout=0, nstvout=0, nstxout_compressed=0), tmp_path)
    assert "E287" in run(folder, "-q", "--h5md", code=4) and not (folder / "md.h5md").exists()


# --- info

@needs_plugin
def test_info_says_what_is_in_it(tmp_path):
    folder = folder_with(ALL, tmp_path)
    run(folder, "-q", "--h5md")

    ours, trr = info("md.h5md", folder), info("md.trr", folder)
    for name in ("frames", "first_step", "last_step", "frames_with", "atoms", "precision", "last_box_nm"):
        assert ours[name] == trr[name], name
    assert ours["interval_ps"] == pytest.approx(0.02) and ours["convention"] == "H5MD 1.1" and ours["program"].startswith("Parhelion 0.")
    (folder / "cut.h5md").write_bytes((folder / "md.h5md").read_bytes()[:3000])
    assert "E288" in info("cut.h5md", folder, 4)
    h5py = reader("h5py")
    with h5py.File(folder / "other.h5md", "w") as file:
        file["numbers"] = [1, 2]
    assert "has no group h5md" in info("other.h5md", folder, 4)
    reader("MDAnalysis")
    # A file of another program, in other units. In a process of its own: MDAnalysis closes it late.
    other = "import MDAnalysis as m; u = m.Universe('md.gro', 'md.trr'); w = m.Writer('theirs.h5md', 3000, lengthunit='Angstrom', timeunit='fs', " \
            "velocityunit='Angstrom/ps', forceunit='kJ/(mol*Angstrom)')\nfor frame in u.trajectory[::2]: w.write(u.atoms)\nw.close()"
    subprocess.run([sys.executable, "-W", "ignore", "-c", other], cwd=folder, check=True)
    theirs = info("theirs.h5md", folder)
    assert theirs["frames"] == 4 and theirs["atoms"] == 3000 and theirs["program"].startswith("MDAnalysis")
    assert theirs["last_box_nm"] == pytest.approx(trr["last_box_nm"], rel=1e-6) and theirs["last_time_ps"] == pytest.approx(0.12)
