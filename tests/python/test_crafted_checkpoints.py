# SPDX-License-Identifier: Apache-2.0
"""Checkpoints whose hashes are right and whose content is not: each is continued or refused as input, never an internal error.

The hashes are computed here, by the published definition of XXH64 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
"""
import json
import os
import random
import re
import struct
import subprocess

import pytest

from simulation import argon

RUN = """
integrator = md
dt = 0.002
nsteps = 40
cutoff-scheme = Verlet
verlet-buffer-tolerance = -1
rlist = 1.0
nstlist = 10
coulombtype = reaction-field
epsilon-rf = 0
rcoulomb = 0.9
rvdw = 0.9
continuation = no
gen-vel = yes
gen-temp = 150
gen-seed = 7
tcoupl = nose-hoover
tc-grps = System
tau-t = 1
ref-t = 150
pcoupl = {barostat}
tau-p = 5
compressibility = 4.5e-5
ref-p = 1
ld-seed = 7
nstxout-compressed = 10
nstcalcenergy = 5
nstenergy = 20
nstlog = 20
"""
P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
ALL = (1 << 64) - 1


def xxh64(data, seed):
    def rotated(x, n):
        return (x << n | x >> (64 - n)) & ALL

    def mixed(lane, word):
        return rotated((lane + word * P2) & ALL, 31) * P1 & ALL

    at, hashed = 0, (seed + P5) & ALL
    if len(data) >= 32:
        lanes = [(seed + P1 + P2) & ALL, (seed + P2) & ALL, seed, (seed - P1) & ALL]
        for at in range(0, len(data) - 31, 32):
            lanes = [mixed(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
        at += 32
        hashed = sum(rotated(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & ALL
        for lane in lanes:
            hashed = ((hashed ^ mixed(0, lane)) * P1 + P4) & ALL
    hashed = (hashed + len(data)) & ALL
    while at + 8 <= len(data):
        hashed = (rotated(hashed ^ mixed(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & ALL
        at += 8
    if at + 4 <= len(data):
        hashed = (rotated(hashed ^ struct.unpack_from("<I", data, at)[0] * P1 & ALL, 23) * P2 + P3) & ALL
        at += 4
    for byte in data[at:]:
        hashed = rotated(hashed ^ byte * P5 & ALL, 11) * P1 & ALL
    hashed = (hashed ^ hashed >> 33) * P2 & ALL
    hashed = (hashed ^ hashed >> 29) * P3 & ALL
    return hashed ^ hashed >> 32


def with_description(checkpoint, about):
    """The checkpoint with another description, and the hashes that belong to it. 56: two headers."""
    text = json.dumps(about).encode()
    bytes_before = struct.unpack_from("<Q", checkpoint, 40)[0]
    arrays = checkpoint[56 + bytes_before :]
    header = struct.pack("<8sQQ", b"PARH-CPT", 1, 56 + len(text) + len(arrays))
    section = struct.pack("<8sQ", b"about   ", len(text))
    return header + struct.pack("<Q", xxh64(header, 1)) + section + struct.pack("<Q", xxh64(text, xxh64(section, 1))) + text + arrays


def description(checkpoint):
    return json.loads(checkpoint[56 : 56 + struct.unpack_from("<Q", checkpoint, 40)[0]])


def run(folder, *options, barostat):
    if "PARHELION_PROGRAM" not in os.environ:
        pytest.skip("$PARHELION_PROGRAM is not set")
    (folder / "md.mdp").write_text(RUN.format(barostat=barostat))
    command = [os.environ["PARHELION_PROGRAM"], "run", "-c", "argon.gro", "-p", "argon.top", "-q", "--device", "cpu", "--threads", "1", "--allow",
               "W115", "--allow", "W114", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def folder_with_checkpoint(path, barostat):
    argon(path)
    result = run(path, "--steps", "25", barostat=barostat)
    assert result.returncode == 0, result.stderr
    return (path / "md.cpt").read_bytes()


def outcome(folder, whole, about, barostat):
    """The exit code and the words of going on from a checkpoint with this description."""
    outputs = {name: (folder / name).read_bytes() for name in ["md.xtc", "md.edr", "md.log"]}
    (folder / "md.cpt").write_bytes(with_description(whole, about))
    (folder / "md.prev.cpt").unlink(missing_ok=True)
    result = run(folder, barostat=barostat)
    for name, content in outputs.items():
        (folder / name).write_bytes(content)
    return result.returncode, result.stderr


@pytest.mark.parametrize("what, value", [
    ("step", -1), ("step", 2**62), ("step", 2**63), ("reached", -5), ("outputs/next_energy_step", 30), ("outputs/next_energy_step", -(2**62)),
    ("outputs/since_frame/count", -1), ("outputs/since_frame/count", 2**31 - 1), ("outputs/whole_run/count", -1),
    ("outputs/since_frame/mean", []), ("box_nm", [0, 0, 0]), ("box_nm", [-2, 2, 2]), ("box_nm", [1e300, 1e300, 1e300]),
    ("position_bits", 48), ("outputs/xtc_bytes", 2**63), ("outputs/h5md_frames", [0, -1, 0]), ("outputs/h5md_frames", [1, 1]), ("outputs/h5md_frames", 3), ("step", 20.5), ("step", True)])
def test_what_no_run_can_have_is_refused(tmp_path, what, value):
    whole = folder_with_checkpoint(tmp_path, "no")
    about = description(whole)
    assert outcome(tmp_path, whole, about, "no")[0] == 0  # so the hashes are right
    place = about
    *path, last = what.split("/")
    for name in path:
        place = place[name]
    place[last] = value
    code, said = outcome(tmp_path, whole, about, "no")
    assert code == 4 and "E190" in said, (code, said)


def test_many_names_take_no_longer_than_few(tmp_path):
    """Each looked for among all others, they took minutes: run() has a limit of two."""
    whole = folder_with_checkpoint(tmp_path, "no")
    about = description(whole)
    for where in ([], ["run"], ["outputs"]):
        crafted = json.loads(json.dumps(about))
        place = crafted[where[0]] if where else crafted
        place.update({f"name {n}": "" for n in range(300000)})
        code, said = outcome(tmp_path, whole, crafted, "no")
        assert code in (0, 4), said


def test_a_terminal_takes_no_orders_from_a_checkpoint(tmp_path):
    whole = folder_with_checkpoint(tmp_path, "no")
    about = description(whole)
    about["run"]["dt"] = "\x1b]0;title\x07\x9b31m\x7f"
    code, said = outcome(tmp_path, whole, about, "no")
    assert code == 4 and "E191" in said and "?]0;title?" in said
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", said), ascii(said)


@pytest.mark.parametrize("file", ["xtc", "edr", "log"])
def test_lengths_of_files_that_may_be_others_are_refused(tmp_path, file):
    whole = folder_with_checkpoint(tmp_path, "no")
    about = description(whole)
    about["outputs"][f"{file}_bytes"] = 100
    del about["outputs"][f"{file}_tail"]
    code, said = outcome(tmp_path, whole, about, "no")
    assert code == 4 and "E190" in said, said


ODD = [0, 1, -1, 2**31 - 1, -(2**31), 2**53, 2**63 - 1, 2**64 - 1, 0.5, -0.5, 1e-300, 1e-9, 1e9, 1e308, -1e308, None, True, "", "word", [], {}, [1, 2]]


def mutated(about, chance):
    """One value, anywhere, is another one, or is gone."""
    about = json.loads(json.dumps(about))
    parent = about
    while True:
        key = chance.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
        if not isinstance(parent[key], (dict, list)) or not parent[key] or chance.random() < 0.1:
            break
        parent = parent[key]
    if chance.random() < 0.1:
        del parent[key]
    elif isinstance(parent[key], (int, float)) and chance.random() < 0.4:
        parent[key] *= chance.choice([-1, 2, 0.5, 1000, 1e-3, 1 + 1e-9])
    else:
        parent[key] = chance.choice(ODD)
    return about


@pytest.mark.parametrize("barostat", ["no", "Parrinello-Rahman", "C-rescale"])
def test_any_other_content_is_continued_or_refused(tmp_path, barostat):
    whole = folder_with_checkpoint(tmp_path, barostat)
    about, chance = description(whole), random.Random(barostat)
    codes = []
    for _ in range(int(os.environ.get("PARHELION_CRAFTED_CHECKPOINTS", "60"))):
        crafted = mutated(about, chance)
        code, said = outcome(tmp_path, whole, crafted, barostat)
        changed = {key: value for key, value in crafted.items() if about.get(key) != value}
        assert code in (0, 4, 5) and (code != 4 or "E19" in said), (code, said, changed)
        codes.append(code)
    assert codes.count(0) > 3 and codes.count(4) > 10
