"""The tool that chooses among all looks prints the figures of the page on quality."""

from __future__ import annotations

import re
import subprocess
import sys

from page_blocks import DOCS

PAGE = DOCS / "explanation" / "quality.md"
TOOL = DOCS.parent / "tools" / "choice_over_looks.py"


def _printed(*options: str) -> str:
    command = [sys.executable, TOOL, *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_page_has_what_the_tool_prints() -> None:
    found = re.findall(
        r"fitted (\w+), (\d+) lines: chosen without the type (\S+), chosen with all types (\S+)",
        _printed(),
    )
    (_, *together), (_, *alone) = sorted(found, reverse=True)
    text = " ".join(PAGE.read_text("utf-8").split())
    said = "Together, {} lines, it has {} on the types left out (chosen with: {}); "
    assert said.format(*together) in text
    assert "alone, {} lines, {} (chosen with: {})".format(*alone) in text


def test_the_page_has_what_the_rule_chooses_from_the_recipe() -> None:
    printed = _printed("--recipe")
    chosen = re.findall(r"  without (\w+): shipped recipe: ([\w ]+):", printed)
    assert len(chosen) == 8
    with_all = re.findall(r"\(shipped recipe: ([\w ]+)\)", printed)
    rows = [("nothing", *with_all)]
    for left_out in ("gearbox", "bearing", "fan", "ToyCar"):
        rows.append((left_out, *(label for name, label in chosen if name == left_out)))
    page = PAGE.read_text("utf-8").replace("| both bearings |", "| bearing |")
    for name, together, alone in rows:
        assert f"| {name} | {together} | {alone} |" in page
    figures = re.findall(r"chosen without the type (\S+), chosen with all types (\S+)", printed)
    for without, with_all_types in figures:
        assert f"**{without}** |" in page
        assert f"| {with_all_types} |" in page


def test_the_page_has_what_other_forms_of_the_rule_choose() -> None:
    """Without a preference for the simple; with what the simulated plant needs kept in."""

    def without_type(*options: str) -> list[str]:
        return re.findall(r"without the type ([\d.]+)", _printed("--recipe", *options))

    text = " ".join(PAGE.read_text("utf-8").split())
    together, alone = without_type("--tolerance", "0")
    assert f"Together nothing: {together}, and the same choices." in text
    assert f"the best on the other types, however complex, has {alone}." in text
    needed = ("without-roughness", "without-modulation", "own-spread", "no-density")
    kept = [part for name in needed for part in ("--not", name)]
    assert "would print {} and {};".format(*without_type(*kept)) in text
    kept += ["--not", "without-rhythm"]
    assert "as well, {} and {}, since".format(*without_type(*kept)) in text
