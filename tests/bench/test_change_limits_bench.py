"""The benchmark of change limits leaves out what it says it leaves out."""

from __future__ import annotations

from typer.testing import CliRunner

from bearing_lives import life, write_life
from ssdpt.bench.change_limits import DEFAULT, bench_change_limits, limit_variants
from ssdpt.cli import app


def test_each_limit_is_varied_alone():
    variants = limit_variants()
    assert len(variants) == 15
    assert len(set(variants.values())) == 15


def test_every_run_is_left_out_once(tmp_path):
    write_life(tmp_path / "worn.flac", life(seed=2))
    write_life(tmp_path / "broken.flac", life(seed=3, damage=0.8))
    counts, left_out = bench_change_limits(tmp_path, snapshot=0.1, every=10)
    assert [entry.run for entry in left_out] == ["broken", "worn"]
    assert counts[0].variant == DEFAULT
    assert all(len(entry.verdicts) == 2 for entry in counts)
    for entry in left_out:
        assert entry.worst in entry.chosen
        assert entry.as_good <= len(entry.chosen)


def test_command(tmp_path):
    write_life(tmp_path / "worn.flac", life())
    result = CliRunner().invoke(
        app, ["bench", "change-limits", str(tmp_path), "--snapshot", "0.1", "--every", "10"]
    )
    assert result.exit_code == 0, result.output
    assert "worn" in result.output
