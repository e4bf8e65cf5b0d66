"""An install that has become too large ends the release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from release.command import ReleaseError
from release.extras import extras
from release.sizes import (
    LARGEST,
    SLOWEST_HELP,
    SLOWEST_IMPORT,
    Size,
    Speed,
    check_size,
    check_speed,
    table,
    write_page,
)
from ssdpt.doctor.extras import PURPOSES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "sizes.md"


def test_the_extras_are_those_that_doctor_knows() -> None:
    assert set(extras(ROOT)) == set(PURPOSES)


def test_an_install_within_its_limit_is_fine() -> None:
    check_size(Size("", 20, LARGEST[""] - 0.1, 27.0, 10.0))
    check_size(Size("edge", 25, LARGEST["edge"] - 0.1, 42.0, 10.0))
    check_size(Size("train", 50, 5000.0, 300.0, 100.0))


@pytest.mark.parametrize(("extra", "sentence"), [("", "the base install"), ("edge", "the edge")])
def test_an_install_that_is_too_large_is_named(extra: str, sentence: str) -> None:
    with pytest.raises(ReleaseError, match=rf"{sentence}.* takes 190\.1 MB"):
        check_size(Size(extra, 20, 190.1, 40.0, 10.0))


def test_a_slow_import_is_named() -> None:
    check_speed(Speed(0.03, 0.25))
    with pytest.raises(ReleaseError, match=r"import ssdpt takes 0\.031 s, ssdpt --help 0\.200 s"):
        check_speed(Speed(0.031, 0.2))
    with pytest.raises(ReleaseError, match=r"ssdpt --help 0\.260 s"):
        check_speed(Speed(0.01, 0.26))


def test_the_table_has_a_row_for_each_install() -> None:
    sizes = [Size("", 20, 117.1, 27.4, 9.6), Size("train", 45, 1270.7, 301.0, 94.2)]
    assert table(sizes).splitlines()[2:] == [
        "| `ssdpt` | 20 | 117 | 27 | 10 |",
        "| `ssdpt[train]` | 45 | 1,271 | 301 | 94 |",
    ]


def test_the_page_is_written_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "sizes.md"
    marks = ("<!-- written by make sizes -->", "<!-- end of what is written by make sizes -->")
    page.write_text(f"# Sizes\n\n{marks[0]}\n\nold\n\n{marks[1]}\n\nMore.\n")
    write_page(page, "new")
    assert page.read_text() == f"# Sizes\n\n{marks[0]}\n\nnew\n\n{marks[1]}\n\nMore.\n"
    page.write_text("# Sizes\n")
    with pytest.raises(ReleaseError, match="lacks the lines"):
        write_page(page, "new")


def test_the_page_has_every_install_that_people_can_make() -> None:
    text = PAGE.read_text("utf-8")
    rows = re.findall(r"^\| `ssdpt(?:\[(\w+)\])?` \| ([\d,]+) \| ([\d,]+) \| ", text, re.MULTILINE)
    assert [name for name, _, _ in rows] == ["", *extras(ROOT)]
    taken = {name: int(megabytes.replace(",", "")) for name, _, megabytes in rows}
    assert {name: most for name, most in LARGEST.items() if taken[name] > most} == {}


def test_the_page_and_the_command_hold_the_same_limits() -> None:
    text = " ".join(PAGE.read_text("utf-8").split())
    said = (
        f"`ssdpt` takes more than {LARGEST['']} MB, `ssdpt[edge]` more than {LARGEST['edge']} MB, "
        f"`import ssdpt` more than {SLOWEST_IMPORT * 1000:.0f} ms or `ssdpt --help` more than "
        f"{SLOWEST_HELP} s of CPU time"
    )
    assert said in text
    assert f"(at most {SLOWEST_IMPORT * 1000:.0f}), `ssdpt --help`" in text
