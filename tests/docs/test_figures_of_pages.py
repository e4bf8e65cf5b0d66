"""Every picture of the pages is drawn by committed code, which runs here on few clips."""

from __future__ import annotations

import csv
import os
import sys
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import soundfile
from page_blocks import DOCS, pages
from PIL import Image

from bearing_lives import life, write_life
from sounds import RATE, hum
from ssdpt import Detector
from ssdpt.data.simulator import simulate

FIGURES = DOCS / "figures"
_LARGEST = 200_000  # bytes
_PICTURES = sorted(DOCS.rglob("*.png"))
# What draws each of them: below, except where another test does.
_DRAWN_BY = {
    **dict.fromkeys(("architecture", "views", "whitening", "thresholds"), "docs/figures"),
    **dict.fromkeys(("bearing-life", "bearing-lives", "benchmark"), "docs/figures"),
    **dict.fromkeys(("propeller", "pump-alarm", "pump-event"), "docs/figures"),
    "valve": "docs/images/draw.py",
    "monitor-overview": "tests/e2e/test_monitor_page.py",
    **{
        f"paper-{name}": "src/ssdpt/experiments/report/figures.py"
        for name in ("machines-h-auc", "masking", "patches", "blocks", "beta-curves")
    },
}


@pytest.fixture
def figure(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of docs/figures under a name of its own; tests has other modules."""
    monkeypatch.syspath_prepend(FIGURES)

    def load(name: str) -> ModuleType:
        spec = util.spec_from_file_location(f"figure_{name}", FIGURES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look themselves up
        spec.loader.exec_module(module)
        return module

    return load


def _machine(kind: str) -> Any:
    return import_module("simulated_machine").SimulatedMachine(kind, "demo")


def _is_drawn(path: Path) -> bool:
    """Whether there is a picture with something on white."""
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("L"))
    return bool(pixels.max() == 255 and (pixels < 128).mean() > 0.001)


def test_lives_of_bearings_are_drawn(figure: Any, tmp_path: Path) -> None:
    for number, damage in enumerate((0.6, 0.8)):
        rows = life(snapshots=200, damage=damage, seed=number)
        write_life(tmp_path / "runs" / f"bearing{number}.flac", rows)
    out = tmp_path / "life.png"
    figure("bearing_life").draw(tmp_path / "runs" / "bearing0.flac", out, 0.1, 10.0)
    assert _is_drawn(out)
    out = tmp_path / "lives.png"
    figure("bearing_lives").draw(tmp_path / "runs", out, 0.1, 10.0)
    assert _is_drawn(out)


def test_architecture_is_drawn_of_packages_that_exist(figure: Any, tmp_path: Path) -> None:
    module = figure("architecture")
    module.draw(tmp_path / "architecture.png")
    assert _is_drawn(tmp_path / "architecture.png")
    packages = [name for step in module._STEPS for name in step.package.split(", ")]
    assert [name for name in packages if util.find_spec(name) is None] == []


def test_views_are_drawn(figure: Any, tmp_path: Path) -> None:
    out = tmp_path / "views.png"
    figure("views").draw(out, _machine("fan"), fault="bearing", clips=4)
    assert _is_drawn(out)


def test_whitening_is_drawn_and_measured(
    figure: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "whitening.png"
    figure("whitening").draw(out, _machine("pump"), fault="leak", learn=10, judge=5)
    assert _is_drawn(out)
    printed = capsys.readouterr().out.splitlines()
    views = ["spectrum", "roughness", "modulation", "envelope", "rhythm"]
    assert [line.split(":")[0] for line in printed] == views


def test_thresholds_are_drawn_and_measured(
    figure: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "thresholds.png"
    figure("thresholds").draw(out, _machine("fan"), learn=20, healthy=20, faulty=8)
    assert _is_drawn(out)
    printed = capsys.readouterr().out
    assert "of 8 faulty clips" in printed
    assert "asked 10%:" in printed
    assert "of 20 healthy clips" in printed


def test_a_clip_of_a_demo_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture of the start page."""
    monkeypatch.syspath_prepend(DOCS / "images")
    clips = simulate(tmp_path / "plant", "tiny", machines=["valve"], workers=1) / "valve"
    Detector.fit(clips).save(tmp_path / "models" / "valve")
    with (tmp_path / "scores.csv").open("w", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["machine", "domain", "label", "section", "value", "path"])
        for number, clip in enumerate(sorted((clips / "source_test").glob("section_00_*.wav"))):
            label = "anomaly" if "_anomaly_" in clip.name else "normal"
            rows.writerow(["valve", "source", label, "00", number, clip])
    out = tmp_path / "valve.png"
    import_module("draw").draw(tmp_path, "valve", out)
    assert _is_drawn(out)


def test_flights_are_drawn(figure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = figure("propeller")
    monkeypatch.setattr(module, "SECONDS", (2, 4))
    for number in range(4):
        _write_flight(tmp_path / "drone" / "normal" / f"cw_square-{number}.wav", number)
    Detector.fit(tmp_path / "drone").save(tmp_path / "model")
    for number, name in enumerate((module.HEALTHY, module.BROKEN), 10):
        _write_flight(tmp_path / "drone" / name, number)
    out = tmp_path / "propeller.png"
    module.draw(tmp_path / "model", tmp_path / "drone", out)
    assert _is_drawn(out)


def _write_flight(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, hum(21.0, seed), RATE)


@pytest.mark.full
@pytest.mark.needs_browser
def test_the_page_of_a_benchmark_is_photographed(figure: Any, tmp_path: Path) -> None:
    html = "<h1>Quality</h1><figure><svg width=300 height=200><rect width=90 height=90 /></svg>"
    (tmp_path / "quality.html").write_text(f"{html}</figure>", "utf-8")
    figure("benchmark").draw(tmp_path / "quality.html", tmp_path / "benchmark.png")
    assert _is_drawn(tmp_path / "benchmark.png")


@pytest.mark.full
@pytest.mark.needs_browser
def test_an_alarm_is_photographed(
    figure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the tutorial's pump, in a tenth of the time."""
    clips = simulate(tmp_path / "plant", "tiny", machines=["pump"], workers=1) / "pump"
    Detector.fit(clips).save(tmp_path / "model")
    (tmp_path / "monitor.yaml").write_text(
        "speed: 10\nmachines: [{id: pump-1, name: Coolant pump 1, model: model, section: '00',"
        " source: {kind: simulated, machine: pump, speed: 10, fault_after: 60}}]",
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    module = figure("alarm_page")
    monkeypatch.setattr(module, "IN_ALARM", 100)
    monkeypatch.setattr(module, "RECORDED", 100)
    module.photograph(tmp_path)
    assert _is_drawn(tmp_path / "pump-alarm.png")
    assert _is_drawn(tmp_path / "pump-event.png")


def test_every_picture_is_drawn_by_code() -> None:
    assert {picture.stem for picture in _PICTURES} == _DRAWN_BY.keys()
    assert [place for place in _DRAWN_BY.values() if not (DOCS.parent / place).exists()] == []


@pytest.mark.parametrize("picture", _PICTURES, ids=lambda picture: picture.stem)
def test_pictures_are_small_and_shown(picture: Path) -> None:
    assert picture.stat().st_size <= _LARGEST
    assert any(picture.name in page.read_text("utf-8") for page in pages()), "no page shows it"
