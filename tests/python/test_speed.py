# SPDX-License-Identifier: Apache-2.0
"""README's table of speeds and its figure are what tools/make_speed.py makes of the recorded results."""
import importlib.util
import json
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("make_speed", ROOT / "tools/make_speed.py")
make_speed = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_speed)


def line(program, gpus, rate, atoms=45000):
    return {"electrostatics": "pme", "atoms": atoms, "gpus": gpus, "program": program, "ns_per_day": rate}


def rates(tmp_path, *lines):
    path = tmp_path / "beside.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return make_speed.read(path)


def test_readme_and_figure_are_up_to_date():
    rates = make_speed.read()
    readme = make_speed.README.read_text()
    assert all(mark in readme for mark in make_speed.MARKS)
    assert readme == make_speed.with_table(readme, rates), "run tools/make_speed.py"
    assert make_speed.FIGURE.read_text() == make_speed.figure(rates), "run tools/make_speed.py"
    page = make_speed.PAGE.read_text()
    assert all(mark in page for mark in make_speed.MARKS + make_speed.CPU_MARKS)
    assert page == make_speed.with_tables(page, rates), "run tools/make_speed.py"
    assert str(make_speed.FIGURE.relative_to(ROOT)) in readme


def test_a_row_has_both_rates_and_their_ratio(tmp_path):
    one = rates(tmp_path, line("Parhelion", 1, 1), line("Parhelion", 1, 3000), line("GROMACS", 1, 1000))
    assert make_speed.table(one).splitlines()[2] == "| 45 000, PME | **3 000**, 1 000 (3.0 x) |"  # of two lines the last counts


def test_a_rate_without_the_peers_is_left_out(tmp_path):
    assert make_speed.table(rates(tmp_path, line("Parhelion", 1, 3000))).splitlines()[2] == "| 45 000, PME |  |"


def test_lines_of_bench_standard_are_records(tmp_path):
    ours = line("Parhelion", 1, 900, 23558) | {"test": "jac", "platform": "CUDA"}
    on_cpus = line("Parhelion", 0, 5) | {"test": "water-pme-45000", "platform": "CPU"}
    water = line("Parhelion", 1, 3000) | {"test": "water-pme-45000", "platform": "CUDA"}
    made = rates(tmp_path, ours, line("GROMACS", 1, 600, 23558) | {"test": "jac"}, on_cpus, water, line("GROMACS", 1, 1000))
    assert make_speed.table(made).splitlines()[2:] == ["| 23 558, JAC | **900**, 600 (1.5 x) |", "| 45 000, PME | **3 000**, 1 000 (3.0 x) |"]


def test_bars_are_as_long_as_rates(tmp_path):
    drawn = xml.etree.ElementTree.fromstring(make_speed.figure(rates(tmp_path, line("Parhelion", 1, 3000), line("GROMACS", 1, 1000))))
    heights = [float(rect.get("height")) for rect in drawn.iter("{http://www.w3.org/2000/svg}rect")]
    assert heights[:2] == [120.0, 40.0]


def test_a_table_that_is_stale_is_noticed():
    readme = make_speed.README.read_text()
    assert make_speed.with_table(readme.replace("**2 273**", "**9 273**"), make_speed.read()) == readme
