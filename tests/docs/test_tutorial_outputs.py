"""Tutorials followed from an empty folder, with nothing made smaller: commands print what they say.

The simulated machines are the ones of the page. Real flights lie where SSDPT_TEST_RECORDINGS says.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import soundfile
from page_blocks import DOCS, blocks_of, name_of, pages
from run_blocks import check_output, run_page, run_shell
from stand_ins import Folder, Material
from tutorial_stand_ins import DATA_SET, package

# Whose outputs are compared: by the tests below.
WHOLE = ("pump", "edge-device", "own-detector")
COMPARED = {f"tutorials/{name}.md" for name in ("propeller", "paper", *WHOLE)}


@pytest.mark.full
@pytest.mark.parametrize("name", WHOLE)
def test_the_tutorial_prints_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Folder(tmp_path, Material(tmp_path / "unused"), monkeypatch)
    with folder.running:
        if name == "own-detector":
            package(folder)
        assert run_page(DOCS / f"tutorials/{name}.md", {}, outputs=True) > 0


def test_the_sizes_of_the_paper_are_printed() -> None:
    """The only output of its page; the commands after it run with tiny networks."""
    command, output = (
        block for block in blocks_of(DOCS / "tutorials/paper.md")[:2] if not block.reason
    )
    assert output.language == "text"
    check_output(output.code, run_shell(command.code))


@pytest.mark.full
@pytest.mark.needs_recordings
def test_the_first_tutorial_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = os.environ.get("SSDPT_TEST_RECORDINGS")
    assert recordings, "set SSDPT_TEST_RECORDINGS to the folder that holds uav_propeller"
    flights = sorted((Path(recordings) / "uav_propeller").rglob("*.flac"))
    assert len(flights) == 14
    for flight in flights:
        clone = tmp_path / DATA_SET / "Dataset" / flight.parent.name
        copy = clone / flight.stem.replace("-", "/") / "ch1.wav"
        copy.parent.mkdir(parents=True)
        soundfile.write(copy, *soundfile.read(flight))
    monkeypatch.chdir(tmp_path)
    assert run_page(DOCS / "tutorials/propeller.md", {}, outputs=True) > 0


@pytest.mark.parametrize("page", [*pages()], ids=name_of)
def test_outputs_are_compared_or_say_why_not(page: Path) -> None:
    """What follows a command that is not run has the reason of that command."""
    before = None
    open_outputs = []
    for block in blocks_of(page):
        if block.language == "text" and before is not None and not block.reason:
            open_outputs.append(block.line)
        before = block if block.language == "sh" and not block.reason else None
    assert not open_outputs or name_of(page) in COMPARED


def test_another_output_is_found() -> None:
    check_output("level  score\n…\nalarm  31.69", "note\nlevel  score\nnormal  1\nalarm  31.70\n")
    for wrong in ("alarm  33.69", "alert  31.69", "alarm 31.69", "level  score\nlevel  score"):
        with pytest.raises(AssertionError, match="not printed"):
            check_output(wrong, "level  score\nalarm  31.70\n")
