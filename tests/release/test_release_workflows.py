"""The workflow files say what the Makefile and the package say."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from ssdpt.version import __version__

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def steps(name: str, job: str) -> list[dict[str, Any]]:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
    found: list[dict[str, Any]] = workflow["jobs"][job]["steps"]
    return found


def test_a_tag_is_compared_with_the_version() -> None:
    (check,) = [step for step in steps("release", "build") if "GITHUB_REF_NAME" in str(step)]
    for tag, code in ((f"v{__version__}", 0), ("v0.0.0", 1)):
        done = subprocess.run(
            ["bash", "-c", check["run"]],
            cwd=ROOT,
            env={"GITHUB_REF_NAME": tag, "PATH": "/usr/bin:/bin"},
        )
        assert done.returncode == code


@pytest.mark.parametrize(
    ("recordings", "left_out"),
    [(None, "not needs_gpu and not needs_recordings"), ("recordings", "not needs_gpu")],
)
def test_a_release_runs_every_test_as_test_all_does(
    recordings: str | None, left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSDPT_TEST_RECORDINGS", "WORKERS", "MAKEFLAGS", "MAKELEVEL"):
        monkeypatch.delenv(name, raising=False)
    if recordings:
        monkeypatch.setenv("SSDPT_TEST_RECORDINGS", recordings)

    def lines(target: str) -> list[str]:
        done = subprocess.run(
            ["make", "--dry-run", target, "WORKERS=4"], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    (release,) = [line for line in lines("release") if "-m release" in line]
    words = shlex.split(release)
    arguments = shlex.split(words[words.index("--tests") + 1])
    assert arguments == ["-n", "4", "--dist", "loadfile", "--no-loadscope-reorder", "-m", left_out]
    (whole,) = [line for line in lines("test-all") if "/pytest" in line]
    first, again = whole.split("||")
    assert shlex.split(first)[1:] == arguments
    assert shlex.split(again)[1 : 1 + len(arguments)] == arguments


def test_a_published_release_leaves_out_no_test_of_ci() -> None:
    (make,) = [step for step in steps("release", "build") if "make release" in str(step)]
    assert "RELEASE_ARGS" not in str(make)
    workflows = [
        yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
        for name in ("ci", "release")
    ]
    assert (
        workflows[0]["jobs"]["everything"]["services"] == workflows[1]["jobs"]["build"]["services"]
    )
    programs = [step for step in steps("release", "build") if ".ci/programs" in str(step)]
    assert programs
    assert ".ci/programs" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_every_target_of_make_in_a_workflow_exists() -> None:
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        for target in re.findall(r"run: make ([a-z-]+)", file.read_text("utf-8")):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), f"{file.name}: {target}"


def test_installs_are_tried_on_every_python_that_is_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [
        classifier.rsplit(" ", 1)[1]
        for classifier in project["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", classifier)
    ]
    (release,) = [step for step in steps("release", "build") if "setup-python" in str(step)]
    assert sorted(release["with"]["python-version"].split()) == sorted(named)
