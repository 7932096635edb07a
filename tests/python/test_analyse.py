# SPDX-License-Identifier: Apache-2.0
"""`parhelion analyse`: of real runs its steps have the wall time, its path all of it; the page is well-formed and says the same."""
import json
import os
import re
import subprocess

import pytest

from runs import SHORT, folder_with, run
from test_report import Page

STEPS = 400


def analyse(folder, *words, code=0):
    result = subprocess.run([os.environ["PARHELION_PROGRAM"], "analyse", *words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="module", params=[1, 2, 4])
def traced(request, tmp_path_factory):
    """Ranks, and the folder of a run with a timeline."""
    ranks = request.param
    folder = folder_with(SHORT, tmp_path_factory.mktemp(f"ranks{ranks}"))
    grid = {1: [], 2: ["--grid", "2x1x1"], 4: ["--grid", "2x2x1"]}[ranks]
    run(folder, "-q", "--threads", 1, "--steps", STEPS, "--trace", "trace.json", *grid)
    return ranks, folder


def test_lengths_of_steps_are_wall_time(traced):
    ranks, folder = traced
    numbers = json.loads(analyse(folder, "trace.json", "--json"))["traces"][0]
    report = json.loads((folder / "md.report.json").read_text())
    assert numbers["kind"] == "ranks" and len(numbers["processes"]) == ranks
    assert numbers["steps"]["all"]["steps"] == len(numbers["lengths"]) == STEPS - 1  # steps 0 to STEPS; neither the first nor the last
    assert [one["step"] for one in numbers["lengths"]] == list(range(1, STEPS))
    # With the first and the last step, as the file has them, it is the time that the run took by its own clock.
    spans = [event for event in json.loads((folder / "trace.json").read_text())["traceEvents"] if event["ph"] == "X"]
    begin, end = min(span["ts"] for span in spans), max(span["ts"] + span["dur"] for span in spans)
    first, last = (min(span["ts"] for span in spans if span["args"]["step"] == step) for step in (1, STEPS))
    assert end - begin == pytest.approx(report["wall_s"] * 1e6, rel=0.02)
    assert sum(one["us"] for one in numbers["lengths"]) == pytest.approx(last - first, abs=1)
    assert last - first == pytest.approx((STEPS - 1) * numbers["steps"]["all"]["mean_us"], abs=1)
    path = numbers["path_gaps_us"] + sum(one["path_us"] for one in numbers["names"])
    assert path == pytest.approx(numbers["steps"]["all"]["mean_us"], abs=0.01)
    for process in numbers["processes"]:
        times = process["compute_us"] + process["exchange_us"] + process["idle_us"]
        assert times == pytest.approx(numbers["steps"]["all"]["mean_us"], rel=0.02)
        assert 0 <= process["waiting_us"] <= process["exchange_us"]


def test_ranks_say_their_atoms_and_wait_for_their_peers(traced):
    ranks, folder = traced
    numbers = json.loads(analyse(folder, "trace.json", "--json"))["traces"][0]
    assert sum(process["atoms"] for process in numbers["processes"]) == json.loads((folder / "md.report.json").read_text())["atoms"]
    names = {process["name"] for process in numbers["processes"]}
    assert names == {f"rank {rank}" for rank in range(ranks)}
    assert bool(numbers["waits"]) == (ranks > 1)
    for wait in numbers["waits"]:
        assert wait["name"] in names and wait["peer"] in names - {wait["name"]} and wait["us"] > 0


def test_text_ends_with_what_limits_the_step(traced):
    _, folder = traced
    text = analyse(folder, "trace.json")
    assert "Critical path, us a step" in text and re.search(r"nonbonded +[\d.]+ +[\d.]+ %", text)
    last = text[text.index("What limits the step") :]
    assert re.search(r"^- A step takes [\d.]+ us\. Its critical path is: ", last, re.M)
    assert last.rstrip().endswith(".")


def page_of(path):
    class Figures(Page):
        def handle_startendtag(self, tag, attrs):
            assert tag in {"path", "text"}, tag
            self.attributes += attrs

    text = path.read_text()
    page = Figures(text)
    for name, value in page.attributes:
        assert name not in {"src", "href", "srcset", "action", "data"} and not name.startswith("on"), (name, value)
    assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttp", text)
    return page


def test_pages_are_well_formed_and_have_figures_and_tables(traced, tmp_path):
    ranks, folder = traced
    assert "written: page.html" in analyse(folder, "trace.json", "--html", "page.html")
    page = page_of(folder / "page.html")
    assert "Critical path, us a step" in page.text("h2") and "nonbonded" in page.text("td")
    assert "Length of steps" in page.text("figcaption") and "A typical step" in page.text("figcaption")
    assert sum(tag == "text" and data.startswith("rank ") for tag, data in page.texts) == ranks
    numbers = json.loads(analyse(folder, "trace.json", "--json"))["traces"][0]
    assert "\n".join(numbers["advice"]) in page.text("li")


def test_two_are_laid_side_by_side(traced):
    _, folder = traced
    text = analyse(folder, "trace.json", "trace.json", "--html", "two.html")
    assert "B - A, on the path" in text and "+0.00" in text
    assert text.count("What limits the steps of trace.json") == 2
    page = page_of(folder / "two.html")
    assert "B - A, on the path" in page.text("th")
    assert len(json.loads(analyse(folder, "trace.json", "trace.json", "--json"))["traces"]) == 2


def test_what_is_no_timeline_is_refused(traced, tmp_path):
    _, folder = traced
    whole = (folder / "trace.json").read_bytes()
    (tmp_path / "cut.json").write_bytes(whole[: len(whole) // 2])
    assert re.search(r"E197 cut\.json:\d+ ", analyse(tmp_path, "cut.json", code=4))
    assert "E197 md.mdp" in analyse(folder, "md.mdp", code=4)
    assert "E110" in analyse(folder, "nowhere.json", code=4)
    analyse(folder, code=2)
    analyse(folder, "trace.json", "trace.json", "trace.json", code=2)
