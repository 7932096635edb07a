# SPDX-License-Identifier: Apache-2.0
"""`parhelion report`: the page is well-formed, needs nothing from elsewhere, and says what the files of the run say."""
import json
import os
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from runs import DATA, SHORT, folder_with, interrupt, run

VOID = {"meta", "br", "img", "link", "hr", "input"}


class Page(HTMLParser):
    """Checks that every element is closed by its own end, and keeps texts by element, and what elements have of attributes."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in {"path", "text"}, tag  # of SVG
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def text(self, *tags):
        return "\n".join(text for tag, text in self.texts if not tags or tag in tags)


def report(folder, *words, code=0):
    result = subprocess.run([os.environ["PARHELION_PROGRAM"], "report", *words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def page_of(folder, name="md.report.html"):
    text = (folder / name).read_text()
    assert len(text.encode()) < 2e6
    page = Page(text)
    for name, value in page.attributes:
        assert name not in {"src", "href", "srcset", "action", "data"} and not name.startswith("on"), (name, value)
    assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttp", text)
    return page


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that was continued, from a start whose title is markup."""
    folder = folder_with(SHORT, tmp_path_factory.mktemp("whole"))
    lines = (DATA / "conf.gro").read_text().splitlines(keepends=True)
    (folder / "conf.gro").write_text("<script>alert('title')</script> & more\n" + "".join(lines[1:]))
    for steps in (40, 60):
        run(folder, "-q", "--threads", 1, "--steps", steps, structure="conf.gro")
    report(folder, "md")
    return folder


def test_a_page_is_well_formed_and_needs_nothing_from_elsewhere(whole):
    page = page_of(whole)
    assert "<script>alert('title')</script> & more" in page.text("h1")
    scripts = [text for tag, text in page.texts if tag == "script"]
    assert len(scripts) == 1 and "alert" not in scripts[0]
    figures = re.findall(r"<figcaption>(.*?) <small>", (whole / "md.report.html").read_text())
    assert figures[:4] == ["Potential", "Kinetic En.", "Total Energy", "Conserved En."]
    for caption in ("Temperature, T-System", "Pressure", "Density", "Box-X, Box-Y, Box-Z"):
        assert caption in figures
    assert "continued 1 time, last" in page.text("td")


def test_the_page_says_what_report_and_energy_file_say(whole):
    pyedr = pytest.importorskip("pyedr")
    energies = pyedr.edr_to_dict(str(whole / "md.edr"))
    written = json.loads((whole / "md.report.json").read_text())
    numbers = json.loads(report(whole, "md", "--json"))["runs"][0]
    assert numbers["report"] == written
    assert numbers["energies"]["frames"] == len(energies["Time"])
    assert numbers["energies"]["last_time_ps"] == energies["Time"][-1]
    for term, spread in written["energies"].items():
        assert numbers["averages"][term] == {"unit": pyedr.get_unit_dictionary(str(whole / "md.edr"))[term], **spread}
        assert numbers["energies"]["last"][term] == energies[term][-1]
    cells = page_of(whole).text("td")
    for term in ("Temperature", "Total Energy", "Density"):
        shown = re.search(rf'{term}</th><td class="n">(\S+) ± ([^<]+)</td><td class="n">([^<]+)</td>', (whole / "md.report.html").read_text())
        spread = written["energies"][term]
        assert float(shown[1]) == pytest.approx(spread["mean"], abs=0.06 * spread["error"]) and spread["error"] > 0  # two digits of the error
        assert float(shown[2]) == pytest.approx(spread["error"], rel=0.06) and float(shown[3]) == pytest.approx(spread["stddev"], rel=1e-5)
    for phase in ("nonbonded", "constrain"):
        assert f"{written['phases'][phase]:.1f}" in cells
    for said in ("cpu", "1x1x1", "mixed", written["version"]["machine"], written["version"]["program"]):
        assert said in cells


def curve(svg):
    """Times and values that a chart shows, by what it says of its axes."""
    (ax, bx, _), (ay, by, *_) = (re.search(rf'data-{axis}="(.*?)"', svg)[1].split(" ") for axis in "xy")
    points = re.findall(r"[ML](\S+) ([-\d.]+)", re.search(r'class="curve c0" d="(.*?)"', svg)[1])
    return [float(ax) + float(bx) * float(x) for x, _ in points], [float(ay) + float(by) * float(y) for _, y in points]


def test_curves_show_the_frames_of_the_energy_file(whole):
    pyedr = pytest.importorskip("pyedr")
    energies = pyedr.edr_to_dict(str(whole / "md.edr"))
    for figure in re.findall(r"<figure>.*?</figure>", (whole / "md.report.html").read_text(), re.S):
        term = re.search(r"<figcaption>(.*?)[,<]", figure)[1].strip()
        times, values = curve(figure)
        span = max(energies[term]) - min(energies[term]) or abs(energies[term][0]) or 1
        assert times == pytest.approx(list(energies["Time"]), abs=0.001 * energies["Time"][-1]), term
        assert values == pytest.approx(list(energies[term]), abs=1e-3 * span), term


def test_two_runs_are_beside_each_other(whole, tmp_path):
    folder_with(SHORT, tmp_path)
    run(tmp_path, "-q", "--threads", 1, "-o", "other", "--steps", 40)
    assert "md-and-other.report.html" in report(whole, "md", tmp_path / "other")
    page = page_of(whole, "md-and-other.report.html")
    text = (whole / "md-and-other.report.html").read_text()
    assert text.count('class="curve c1"') == text.count('class="curve c0"') > 8
    assert "second - first" in page.text("th")
    runs = json.loads(report(whole, "md", tmp_path / "other", "--json"))["runs"]
    assert [one["energies"]["frames"] for one in runs] == [4, 3]


def test_a_run_of_one_step_and_one_without_an_energy_file_have_pages(tmp_path):
    folder_with(SHORT, tmp_path)
    run(tmp_path, "-q", "--threads", 1, "-o", "one", "--steps", 1)
    report(tmp_path, "one")
    assert "figcaption" in {tag for tag, _ in page_of(tmp_path, "one.report.html").texts} and "nan" not in page_of(tmp_path, "one.report.html").text("td", "b")
    (tmp_path / "md.mdp").write_text(SHORT.replace("nstenergy = 20", "nstenergy = 0"))
    run(tmp_path, "-q", "--threads", 1, "-o", "none")
    assert not (tmp_path / "none.edr").exists()
    report(tmp_path, "none")
    page = page_of(tmp_path, "none.report.html")
    assert "There is no energy file" in page.text("p") and "Temperature" in page.text("th")


def test_a_run_that_was_killed_has_a_page_of_what_is_there(tmp_path):
    folder_with(SHORT, tmp_path)
    interrupt(tmp_path, "-q", "--threads", 1, by=9, after_bytes=60000)
    edr = tmp_path / "md.edr"
    edr.write_bytes(edr.read_bytes()[:-5])  # in the middle of a frame
    report(tmp_path, "md")
    page = page_of(tmp_path)
    assert "was killed" in page.text("p") and "E182" in page.text("p")
    assert "Potential" in page.text("th") and "CPU, 1 thread" in page.text("td")


def test_what_is_no_run_is_refused(tmp_path):
    assert re.search(r"E187 md +is the prefix of no run", report(tmp_path, "md", code=4))
    (tmp_path / "md.report.json").write_text('{"runs": 3}')
    assert "E186 md.report.json" in report(tmp_path, "md", code=4)
    assert not Path(tmp_path / "md.report.html").exists()
