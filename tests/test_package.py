"""Set-up and packaging: make, pins, version, and the built wheel in an empty environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from ssdpt.config.tree import preset_names
from ssdpt.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONSTRAINTS = ROOT / "constraints.txt"

# Stands in for python3: knows its version, makes a venv of itself, logs the arguments of pip.
FAKE_PYTHON = """#!/bin/sh
case "$1 $2" in
  "-c "*) exit {code} ;;
  "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  "-m pip") echo "$PIP_CONSTRAINT $*" >> pip.log ;;
esac
"""


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")


def _pins() -> dict[str, str]:
    lines = [line for line in CONSTRAINTS.read_text("utf-8").splitlines() if line[:1] != "#"]
    return {_name(line): line.split("==")[1] for line in lines}


def _make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder in which `make setup` installs nothing but writes down what it would."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for name, code in (("python-new", 0), ("python-old", 1)):
        (tmp_path / name).write_text(FAKE_PYTHON.format(code=code), "utf-8")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def test_setup_runs_when_the_environment_is_missing_or_stale_only(clone: Path) -> None:
    log = clone / "pip.log"

    def installs() -> int:
        result = _make(clone, "setup", "PYTHON=./python-new", "PIP_ARGS=--no-cache-dir")
        assert result.returncode == 0, result.stderr
        return len(log.read_text("utf-8").splitlines())

    assert installs() == 1
    assert "constraints.txt" in log.read_text("utf-8")
    assert "--no-cache-dir --editable .[dev]" in log.read_text("utf-8")
    assert installs() == 1
    os.utime(clone / "pyproject.toml")
    assert installs() == 1
    for count, name in enumerate(("pyproject.toml", "constraints.txt"), start=2):
        with (clone / name).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        assert installs() == count


@pytest.mark.parametrize("python", ["./python-old", "./python-missing"])
def test_setup_says_that_python_is_too_old(clone: Path, python: str) -> None:
    result = _make(clone, "setup", f"PYTHON={python}")
    assert result.returncode != 0
    assert f"{python} is missing or older than Python 3.11" in result.stderr
    assert not (clone / ".venv").exists()


def test_a_failed_install_is_not_taken_for_done(clone: Path) -> None:
    text = FAKE_PYTHON.format(code=0).replace('"$PIP_CONSTRAINT $*" >> pip.log', "no; exit 1")
    (clone / "python-new").write_text(text, "utf-8")
    assert _make(clone, "setup", "PYTHON=./python-new").returncode != 0
    assert not list((clone / ".venv").glob(".ready*"))


def test_make_help_names_every_target() -> None:
    output = _make(ROOT, "help").stdout
    for target in ("setup", "demo", "test", "test-all", "check", "docs", "clean"):
        assert f"make {target} " in output


def test_every_dependency_is_pinned() -> None:
    project = PROJECT["project"]
    asked = [*project["dependencies"], *PROJECT["build-system"]["requires"]]
    for extra in project["optional-dependencies"].values():
        asked += extra
    missing = {_name(requirement) for requirement in asked} - set(_pins()) - {"ssdpt"}
    assert missing == set()
    assert not [name for name, version in _pins().items() if "+" in version]


def test_version_is_the_same_everywhere() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", changelog, re.MULTILINE)
    assert newest is not None
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert newest[1] == citation["version"] == __version__
    assert newest[2] == str(citation["date-released"])


def test_continuous_integration_runs_checks_and_all_tests() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text("utf-8").splitlines()
    assert "set -euo pipefail" in lines
    assert lines[-3:] == ["make check", "make docs", "make test-all"]


@pytest.mark.full
def test_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PIP_CONSTRAINT": str(CONSTRAINTS),
        "PIP_BUILD_CONSTRAINT": str(CONSTRAINTS),
        "SSDPT_CACHE": str(tmp_path / "cache"),
    }

    def run(*command: str | Path, code: int = 0) -> str:
        result = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert result.returncode == code, result.stderr
        return result.stdout + result.stderr

    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    for name in (
        "py.typed",
        "evaluation/page.css",
        "systems/assets/shared_reference.safetensors",
        "server/static/index.html",
        *(f"config/presets/{name}.yaml" for name in preset_names()),
    ):
        assert f"ssdpt/{name}" in inside
    assert not [name for name in inside if name.startswith(("tests", "docs"))]

    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python, ssdpt = tmp_path / "venv" / "bin" / "python", tmp_path / "venv" / "bin" / "ssdpt"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    assert run(ssdpt, "--version").split() == ["ssdpt", __version__]
    # The base install has no torch: it simulates, inspects, and says what fitting needs.
    run(ssdpt, "datasets", "simulate", "plant", "--preset", "tiny", "--machine", "fan")
    assert "layout dcase2021" in run(ssdpt, "datasets", "inspect", "plant")
    output = run(ssdpt, "fit", "plant", "--out", "model", code=2)
    assert "pip install 'ssdpt[train]'" in output
    assert "Traceback" not in output

    run(python, "-m", "pip", "install", "--quiet", f"ssdpt[train] @ {wheel.as_uri()}")
    run(ssdpt, "fit", "plant", "--preset", "tiny", "--out", "model")
    run(ssdpt, "threshold", "model", "--false-alarm-rate", "0.000001")
    clip = next((tmp_path / "plant" / "fan" / "train").glob("*.wav"))
    assert run(ssdpt, "score", "--quiet", "model", clip).splitlines()[-1].startswith("normal")
    run(ssdpt, "demo", "--preset", "tiny", "--fit", "tiny")
    assert "<h1>" in (tmp_path / "demo" / "report.html").read_text("utf-8")
