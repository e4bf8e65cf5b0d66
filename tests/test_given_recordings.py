"""What a command says of the recordings that it is given."""

from __future__ import annotations

import shutil


def test_scores_need_no_labels(cli, models, fan, tmp_path):
    """A note on what a fit would take them for is of no use to who scores."""
    clip = min((fan / "source_test").glob("*_normal_*"))
    (tmp_path / "today").mkdir()
    shutil.copy(clip, tmp_path / "today" / "a.wav")
    scored = cli("score", models["gmm"], tmp_path / "today", "--section", "00")
    assert "a.wav" in scored.out
    assert "no label" not in scored.err


def test_other_notes_are_shown(cli, models, fan, tmp_path):
    clip = min((fan / "source_test").glob("*_normal_*"))
    for name in ("normal/a.wav", "loose.wav"):
        (tmp_path / "today" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(clip, tmp_path / "today" / name)
    scored = cli("score", models["gmm"], tmp_path / "today", "--section", "00")
    assert "loose.wav" in scored.err
