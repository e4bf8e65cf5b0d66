"""Scoring an archive into shards: each clip exactly once on both engines, also after a kill."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
from functools import partial

import pytest

from nodes import Listener, kill
from sounds import hum, write_clip
from ssdpt.common.cluster import Cluster
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.fleet.archive import Scoring, _on_worker, local_engine, ray_engine, score_archive
from ssdpt.scoring.rows import COLUMNS
from ssdpt.types import Recording
from waiting import wait_until


def rows(out, name="part"):
    """The rows of all shards, in order."""
    rows = []
    for path in sorted(out.glob(f"{name}-*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file)
    return rows


def content(out):
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def clips(tmp_path):
    """Seven short clips, one of them broken."""
    for number in range(7):
        write_clip(tmp_path / "clips" / f"{number}.wav", hum(2, seed=number))
    (tmp_path / "clips" / "3.wav").write_bytes(b"no sound")
    return tmp_path / "clips"


def test_shards_hold_what_score_prints(cli, models, fan, out):
    printed = cli("score", models["ssdpt"], fan, "--format", "csv")
    answer = cli("score", models["ssdpt"], fan, "--out", out, "--shard-size", 20, "--quiet")
    assert answer.code == printed.code == 1
    assert answer.err == ""
    names = ["manifest.json", "part-00000.csv", "part-00001.csv", "part-00002.csv"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert [len(shard.read_text().splitlines()) for shard in sorted(out.glob("part-*"))] == [
        21,
        21,
        9,
    ]
    assert rows(out) == list(csv.DictReader(printed.out.splitlines()))
    anomalous = sum(row["level"] != "normal" for row in rows(out))
    assert answer.out.startswith(f"48 clips, {anomalous} anomalous, 0 failed, ")
    assert answer.out.endswith(f" clips per second -> {out}\n")
    head = json.loads((out / "manifest.json").read_text())
    assert (head["clips"], head["shards"], head["shard_size"]) == (48, 3, 20)
    assert (head["table"], head["strict"], head["hop"]) == ("csv", False, None)


def test_a_broken_clip_among_good_ones(cli, model, clips, out):
    answer = cli("score", model, clips, "--out", out, "--shard-size", 2)
    assert answer.code == 2
    assert "7 clips, " in answer.out
    assert ", 1 failed" in answer.out
    assert [row["path"] for row in rows(out)] == [
        str(clips / f"{number}.wav") for number in (0, 1, 2, 4, 5, 6)
    ]
    (broken,) = rows(out, "errors")
    assert broken["path"] == str(clips / "3.wav")
    assert "not a readable sound file" in broken["error"]
    assert (out / "errors-00001.csv").is_file()
    again = cli("score", model, clips, "--out", out, "--shard-size", 2, "--quiet")
    assert again.code == 2
    assert again.out == answer.out.partition(" failed")[0] + f" failed -> {out}\n"


def test_parquet_says_the_same_as_csv(cli, models, clips, out, tmp_path):
    import pyarrow.parquet

    for kind in ("csv", "parquet"):
        arguments = ("--out", tmp_path / kind, "--shard-size", 4, "--format", kind)
        for _ in range(2):  # the second finds all of it there
            answer = cli("score", models["ssdpt"], clips, *arguments, "--quiet")
            assert (answer.code, answer.err) == (2, "")
            assert answer.out.startswith("7 clips, ")
    tables = [pyarrow.parquet.read_table(p) for p in sorted((tmp_path / "parquet").glob("part-*"))]
    assert [table.num_rows for table in tables] == [3, 3]
    assert tables[0].column_names == list(COLUMNS)
    assert str(tables[0].schema.field("value").type) == "double"
    written = [row for table in tables for row in table.to_pylist()]
    assert [{name: str(cell) for name, cell in row.items()} for row in written] == [
        dict(row) for row in rows(tmp_path / "csv")
    ]
    assert rows(tmp_path / "csv", "errors") == rows(tmp_path / "parquet", "errors")


def test_paths_hold_from_every_folder_and_each_clip_comes_once(cli, model, clips, out, monkeypatch):
    monkeypatch.chdir(clips.parent)
    answer = cli("score", model, "clips", "clips/5.wav", clips / "6.wav", "--out", out)
    assert "note: 2 recordings were given more than once" in answer.err
    assert [row["path"] for row in rows(out)] == [
        str(clips / f"{number}.wav") for number in (0, 1, 2, 4, 5, 6)
    ]


def test_a_name_that_is_no_text(model, out, tmp_path):
    not_utf8 = tmp_path / "clips" / b"k\xfcche.wav".decode("utf-8", "surrogateescape")
    write_clip(tmp_path / "clips" / "a.wav", hum(2)).rename(not_utf8)
    score_archive([Recording(not_utf8, "fan")], Scoring.by(model), out, local_engine("cpu"))
    assert [row["path"] for row in rows(out)] == [str(tmp_path / "clips" / "k?che.wav")]


def test_only_what_is_missing_is_scored(model, clips, out):
    recordings, scoring = read_layout(clips).recordings, Scoring.by(model)
    asked = []

    def engine(scoring, shards, progress):
        for number, judged in local_engine("cpu")(scoring, shards, progress):
            asked.append(number)
            yield number, judged
            if asked == [0, 1]:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_archive(recordings, scoring, out, engine, shard_size=2)
    assert sorted(p.name for p in out.glob("part-*")) == ["part-00000.csv", "part-00001.csv"]
    (out / "errors-00002.csv").write_text("path,error\nleft by a stop,before the part\n")
    # An engine may give its shards in any order.
    (out / "part-00000.csv").unlink()
    summary = score_archive(recordings, scoring, out, engine, shard_size=2)
    assert asked == [0, 1, 0, 2, 3]
    assert (summary.clips, summary.failed, summary.scored_now) == (7, 1, 5)
    assert len(rows(out)) == 6
    assert len(rows(out, "errors")) == 1


def test_another_list_model_or_setting_is_refused(cli, model, clips, out, models):
    arguments = ("score", model, clips, "--out", out)
    assert cli(*arguments, "--quiet").code == 2
    whole = content(out)
    for changed, reason in (
        ((*arguments, "--shard-size", 5), "shard size 1000"),
        ((*arguments, "--format", "parquet"), "table csv"),
        ((*arguments, "--strict"), "strict False"),
        ((*arguments, "--section", "01"), "another list of recordings"),
        (
            (*arguments, clips.parent / "model" / ".." / "clips" / "1.wav"),
            "another list of recordings",
        ),
        (("score", models["ae"], clips, "--out", out), "another model"),
    ):
        refused = cli(*changed, "--quiet")
        assert refused.code == 2
        assert refused.error == (
            f"{out}: these shards were begun with {reason}; choose another --out, or continue with "
            "what they were begun with"
        )
    (model / "README.md").write_text("a card of one's own")
    assert "7 clips" in cli(*arguments).out
    assert cli("threshold", model, "--false-alarm-rate", 0.3).code == 0
    assert "another model" in cli(*arguments, "--quiet").error
    assert content(out) == whole


def test_where_shards_may_go(cli, model, clips, out, tmp_path):
    out.mkdir()
    (out / "thesis.tex").touch()
    assert "holds other files (thesis.tex)" in cli("score", model, clips, "--out", out, "-q").error
    assert (
        "is a file; shards go"
        in cli("score", model, clips, "--out", out / "thesis.tex", "-q").error
    )
    (out / "thesis.tex").rename(out / "manifest.json")
    assert "damaged" in cli("score", model, clips, "--out", out, "-q").error
    (out / "manifest.json").write_text('{"format": 1}')
    assert (
        "holds other files (manifest.json)" in cli("score", model, clips, "--out", out, "-q").error
    )
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json"]


def test_a_failed_start_leaves_no_trap(cli, models, clips, out):
    arguments = ("score", models["ssdpt"], clips, "--out", out, "--quiet")
    assert "a hop is auto or a whole number" in cli(*arguments, "--hop", "wide").error
    assert "7 clips" in cli(*arguments).out


def test_a_run_that_was_killed_before_its_first_shard_is_continued(cli, model, clips, out):
    out.mkdir()
    (out / ".manifest.json._writing.tmp.json").write_text("{")
    arguments = ("score", model, clips, "--out", out, "--quiet")
    assert "7 clips" in cli(*arguments).out
    (out / ".errors-00000.csv._writing.tmp.csv").write_text("half")
    assert "7 clips" in cli(*arguments).out
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_damaged_shard(cli, model, clips, out, kind):
    arguments = ("score", model, clips, "--out", out, "--format", kind, "--quiet")
    cli(*arguments)
    part = out / f"part-00000.{kind}"
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    answer = cli(*arguments)
    assert answer.error == f"{part}: damaged; delete this file, and it is scored again"
    part.unlink()
    cli(*arguments)
    assert part.read_bytes() == whole


def test_refusals(cli, model, clips, out, tmp_path):
    (tmp_path / "empty").mkdir()
    for arguments, reason in (
        ((clips, "--engine", "ray"), "--engine ray writes to a folder: name it with --out"),
        ((clips, "--format", "parquet"), "--format parquet writes to a folder"),
        ((clips, "--out", out, "--timeline"), "--timeline cannot be combined with --out"),
        ((clips, "--out", out, "--format", "json"), "--format json cannot be combined with --out"),
        ((tmp_path / "empty", "--out", out), "no recordings in this folder"),
        ((tmp_path / "absent", "--out", out), "no such file or folder"),
        (
            (clips, "--out", out, "--engine", "ray", "--address", "127.0.0.1:1"),
            "127.0.0.1:1: no Ray cluster can be joined there",
        ),
    ):
        answer = cli("score", model, *arguments, "--quiet")
        assert answer.code == 2
        assert reason in answer.error
    assert "not a model" in cli("score", tmp_path / "clips", clips, "--out", out, "-q").error
    assert "no such model" in cli("score", tmp_path / "no", clips, "--out", out, "-q").error
    assert not out.exists()


@pytest.mark.parametrize(("package", "extra"), [("pyarrow", "parquet"), ("ray", "ray")])
def test_what_is_not_installed_is_named(cli, model, clips, out, monkeypatch, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    chosen = ("--format", "parquet") if extra == "parquet" else ("--engine", "ray")
    answer = cli("score", model, clips, "--out", out, *chosen, "--quiet")
    assert answer.code == 2
    assert answer.error == f"this needs {package}: pip install 'ssdpt[{extra}]'"
    assert not out.exists()


def shards_written(process, out, count):
    assert process.poll() is None
    return len(list(out.glob("part-*"))) >= count


@pytest.mark.full
def test_kill_9_and_ctrl_c_then_the_same_command_continues(cli, command, models, fan, tmp_path):
    whole, out = tmp_path / "whole", tmp_path / "cut"
    arguments = [
        "score",
        str(models["ssdpt"]),
        str(fan),
        "--hop",
        "1",
        "--shard-size",
        "3",
        "--out",
    ]
    assert cli(*arguments, whole).code == 1
    for number, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        done = len(list(out.glob("part-*")))
        process = subprocess.Popen(
            [command, *arguments, str(out)],
            stderr=subprocess.PIPE,
            text=True,
            # A background job of a shell ignores Ctrl-C, and so would its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        with process:
            wait_until(partial(shards_written, process, out, done + 2), "two shards are written")
            process.send_signal(number)
            errors = process.stderr.read()
            assert process.wait(timeout=60) == code
    assert errors.splitlines()[-1] == (
        "error: interrupted; run the same command again to continue with the missing shards"
    )
    assert "Traceback" not in errors
    finished = {path.name: path.stat().st_ino for path in out.glob("part-*")}
    assert 4 <= len(finished) < 16
    answer = cli(*arguments, out)
    assert answer.code == 1
    assert f"{3 * len(finished)} of 48 clips are scored already" in answer.err
    kept = {path.name: path.stat().st_ino for path in out.glob("part-*")}
    assert kept.items() >= finished.items()
    assert content(out) == content(whole)


def test_a_worker_that_does_not_see_the_files(models, tmp_path):
    scoring = Scoring.by(models["gmm"])
    with pytest.raises(SsdptError, match=r"a\.wav: no such file on .*; put it on storage that"):
        _on_worker(scoring, "cpu", [Recording(tmp_path / "a.wav", "fan")])
    clip = Recording(write_clip(tmp_path / "b.wav", hum(2)), "fan")
    moved = Scoring(tmp_path / "model", scoring.digest, None, False)
    with pytest.raises(SsdptError, match=r"no such model on .*; put it on storage that"):
        _on_worker(moved, "cpu", [clip])
    shutil.copytree(models["ae"], moved.model)
    with pytest.raises(SsdptError, match=r"another model on .* than here; put it on storage"):
        _on_worker(moved, "cpu", [clip])


@pytest.mark.full
def test_on_a_cluster_with_a_killed_worker_and_a_killed_node(nodes, models, fan, tmp_path):
    recordings, scoring = read_layout(fan).recordings, Scoring.by(models["ssdpt"], hop=1)
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"no sound")
    recordings = [*recordings[:20], Recording(broken, "fan"), *recordings[20:]]
    here, there = tmp_path / "here", tmp_path / "there"
    expected = score_archive(recordings, scoring, here, local_engine("cpu"), shard_size=2)
    listener, killed = Listener(), []
    other = nodes.add()
    with Cluster.connect(nodes.address, listener) as cluster:

        def engine(scoring, shards, progress):
            """Kills a worker of the head, then all of the other node, each at work."""
            results = ray_engine(cluster)(scoring, shards, progress)
            for count, result in enumerate(results):
                yield result
                for node, after in ((nodes.head, 2), (other, 6)):
                    lines = node.processes().items()
                    busy = [pid for pid, line in lines if "ray::_perform" in line]
                    if busy and count >= after and node not in killed:
                        killed.append(node)
                        kill(busy[0]) if node is nodes.head else node.kill()

        summary = score_archive(recordings, scoring, there, engine, shard_size=2)
    assert len(killed) == 2
    assert len([line for line in listener.warned if "runs again" in line]) >= 2
    assert summary == expected
    assert content(there) == content(here)
    assert sorted(row["path"] for row in rows(there)) == sorted(
        str(item.path) for item in recordings if item.path != broken
    )
