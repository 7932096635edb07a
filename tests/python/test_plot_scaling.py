# SPDX-License-Identifier: Apache-2.0
"""The figures of `bench scaling`: what is read from JSON lines, which bars and lines there are, and the files."""
import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("plot_scaling", ROOT / "bench/gpu/plot_scaling.py")
plot_scaling = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plot_scaling)
RECORDED = ROOT / "bench/results/scaling.jsonl"


def line(atoms, gpus, method, us, looked_at=True):
    work = {"local": [20 / gpus] * gpus, "nonlocal": [30 + g for g in range(gpus)], "non-overlap": [15] * gpus, "step": [us] * gpus}
    return {"case": "scaling", "atoms": atoms, "gpus": gpus, "method": method if gpus > 1 else "none", "us_per_step": us,
            "ns_per_day": 172800 / us} | ({"work_us": work} if looked_at else {})


@pytest.fixture
def measured(tmp_path):
    lines = [line(atoms, gpus, method, atoms / 1000 / gpus + 30 - 5 * rung)
             for atoms in (180000, 45000) for gpus in (4, 1, 2)
             for rung, method in enumerate(["staged-host", "staged-dma", "staged-fused", "direct"]) if gpus > 1 or rung == 0]
    lines += [{"case": "rf", "atoms": 45000}, line(45000, 2, "direct", 33)]
    path = tmp_path / "scaling.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines) + "\n")
    return path


def test_sizes_and_methods_are_in_order_and_the_last_line_counts(measured):
    sizes = plot_scaling.read(measured)
    assert list(sizes) == [45000, 180000]
    assert list(sizes[45000]) == plot_scaling.LADDER
    assert sizes[45000]["direct"][2]["us_per_step"] == 33
    assert all(sorted(by_gpus) == [1, 2, 4] for by_gpus in sizes[45000].values()), "one GPU belongs to every method"


def test_every_size_and_method_is_a_curve_of_both_panels(measured):
    figure = plot_scaling.draw_rate(plot_scaling.read(measured))
    rate, time = figure.axes
    for axes in (rate, time):
        curves = [curve for curve in axes.lines if curve.get_linestyle() != ":" or curve.get_marker() != "None"]
        assert len(curves) == 2 * 4
        assert len(axes.lines) == 2 * 4 + 2, "and what is ideal, of each size"
    first = rate.lines[0]
    assert list(first.get_xdata()) == [1, 2, 4]
    assert first.get_ydata()[0] == pytest.approx(172800 / 75)
    assert time.lines[0].get_ydata()[0] == pytest.approx(0.075)


def test_bars_are_means_over_gpus_of_each_number_and_method(measured):
    sizes = plot_scaling.read(measured)
    labels = [label for label, _ in plot_scaling.bars_of(sizes[45000])]
    assert labels == ["1"] + [f"{g}\n{method}" for g in (2, 4) for method in plot_scaling.LADDER]
    figure = plot_scaling.draw_work(sizes)
    assert len(figure.axes) == 2
    bars = {bars.get_label(): [bar.get_height() for bar in bars] for bars in figure.axes[0].containers if hasattr(bars, "patches")}
    assert list(bars) == list(plot_scaling.WORK)
    assert bars["local"] == pytest.approx([20] + [10] * 4 + [5] * 4)
    assert bars["nonlocal"] == pytest.approx([30] + [30.5] * 4 + [31.5] * 4)


def test_lines_without_work_have_no_bars(tmp_path):
    path = tmp_path / "scaling.jsonl"
    path.write_text("".join(json.dumps(line(45000, gpus, "direct", 50, looked_at=False)) + "\n" for gpus in (1, 2)))
    assert plot_scaling.draw_work(plot_scaling.read(path)) is None


def test_reaction_field_and_pme_are_not_drawn_together(tmp_path):
    path = tmp_path / "scaling.jsonl"
    lines = [line(45000, 1, "direct", 50) | {"electrostatics": name} for name in ("rf", "pme")]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    with pytest.raises(SystemExit, match="both"):
        plot_scaling.read(path)


@pytest.mark.parametrize("source", ["measured", "recorded"])
def test_figures_are_svg_and_png(source, measured, tmp_path):
    plot_scaling.main(measured if source == "measured" else RECORDED, tmp_path / "figure")
    names = {file.name for file in tmp_path.glob("figure-*")}
    assert {"figure-rate.svg", "figure-rate.png"} <= names
    assert ({"figure-work.svg", "figure-work.png"} <= names) == (source == "measured" or "work_us" in RECORDED.read_text())
    for name in names:
        assert (tmp_path / name).read_bytes().lstrip()[:5] in (b"<?xml", b"\x89PNG\r")
