"""What an inspection says of sensors: formats, units, axes, levels, snapshots, and their faults."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.io
import soundfile

from ssdpt.data.inspect import inspect

RATE = 12800
YAML = f"unit: g\nsample_rate: {RATE}\n"


def shaken(seconds=3.0, axes=2, seed=0, level=0.5):
    """Acceleration in g, (samples, axes), about gravity."""
    rng = np.random.default_rng(seed)
    return 1.0 + level * rng.standard_normal((round(seconds * RATE), axes))


def write_csv(path, values, times=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list("xyz"[: values.shape[1]])
    if times is not None:
        values, names = np.column_stack([times, values]), ["t", *names]
    np.savetxt(path, values, "%.7g", ",", header=",".join(names), comments="")
    return path


def run(folder, yaml=YAML, count=12):
    """Snapshots of a tenth of a second, every ten seconds."""
    for number in range(count):
        write_csv(folder / f"acc_{number:05d}.csv", shaken(0.1, seed=number))
    (folder / "sensor.yaml").write_text(yaml)
    return folder


def kinds(inspection):
    return [problem.kind for problem in inspection.problems]


def sentence(inspection, kind):
    (problem,) = [item for item in inspection.problems if item.kind == kind]
    return problem.sentence


def test_all_formats_with_rate_unit_axes_and_level(tmp_path):
    (tmp_path / "sensor.yaml").write_text(f"{YAML}axes: [x, y]\n")
    for kind in ("csv", "mat", "parquet"):
        (tmp_path / "pump").mkdir(exist_ok=True)
        path, values = tmp_path / "pump" / f"a.{kind}", shaken(seed=len(kind))
        if kind == "csv":
            write_csv(path, values)
        elif kind == "mat":
            scipy.io.savemat(path, {"acc": values})
        else:
            columns = {"x": values[:, 0], "y": values[:, 1]}
            pyarrow.parquet.write_table(pyarrow.table(columns), path)
    inspection = inspect(tmp_path / "pump")
    assert inspection.problems == ()
    text = "\n".join(inspection.lines())
    assert "12.8 kHz, channels 2" in text
    assert "sensor: csv × 1, mat × 1, parquet × 1; g, full scale 50" in text
    assert re.search(r"level \(root mean square\): x 0\.(5|49|50)\d? g, y 0\.(5|49|50)\d? g", text)
    assert "snapshots" not in text
    machine = json.loads(json.dumps(dataclasses.asdict(inspection)))["machines"][0]
    assert machine["formats"] == {"csv": 1, "mat": 1, "parquet": 1}
    assert machine["levels"]["x"] == pytest.approx(0.5, rel=0.02)


def test_snapshots_and_their_interval(tmp_path):
    inspection = inspect(run(tmp_path / "bearing", f"{YAML}every: 10\n"))
    assert inspection.problems == ()
    assert "  snapshots: 12 of 0.1 s, one every 10 s" in inspection.lines()
    assert "clips joined" not in "".join(inspection.notes)


def test_times_in_names_give_the_interval(tmp_path):
    for number in range(4):
        name = f"2003.10.22.12.{number}6.24.csv"
        write_csv(tmp_path / "bearing" / name, shaken(0.1, seed=number))
    (tmp_path / "sensor.yaml").write_text(YAML)
    assert "snapshots: 4 of 0.1 s, one every 600 s" in "\n".join(
        inspect(tmp_path / "bearing").lines()
    )


def test_snapshots_end_to_end_in_one_file_and_some_of_zeros(tmp_path):
    values = (shaken(5.0, axes=1)[:, 0] - 1) / 50
    values[2 * 1280 : 4 * 1280] = 0.0
    soundfile.write(tmp_path / "life.flac", values, RATE)
    (tmp_path / "sensor.yaml").write_text("unit: g\nfull_scale: 50\nsnapshot: 0.1\nevery: 10\n")
    inspection = inspect(tmp_path)
    assert "  snapshots: 50 of 0.1 s, one every 10 s" in inspection.lines()
    assert "2 snapshots of one value, such as zeros, in 1 files, left out" in sentence(
        inspection, "dead snapshots"
    )


def test_gravity_is_no_offset(tmp_path):
    folder = run(tmp_path / "bearing", f"{YAML}full_scale: 16\n")
    assert inspect(folder).problems == ()


def test_a_dead_axis(tmp_path):
    folder = run(tmp_path / "bearing")
    for path in folder.glob("*.csv"):
        values = shaken(0.1, seed=hash(path.name) % 99)
        values[:, 1] = 1.0
        write_csv(path, values)
    inspection = inspect(folder)
    assert sentence(inspection, "dead axis") == (
        "12 with a dead axis (y): one value, check its cable"
    )


def test_a_snapshot_of_zeros(tmp_path):
    folder = run(tmp_path / "bearing")
    write_csv(folder / "acc_00003.csv", np.zeros((1280, 2)))
    (problem,) = inspect(folder).problems
    assert (problem.kind, problem.files) == ("silent", ("acc_00003.csv",))


@pytest.mark.parametrize(("factor", "words"), [(1e4, "far beyond"), (1e-4, "far below")])
def test_wrong_units(tmp_path, factor, words):
    folder = run(tmp_path / "bearing")
    for path in sorted(folder.glob("*.csv")):
        write_csv(path, factor * shaken(0.1, seed=int(path.stem[4:])))
    inspection = inspect(folder)
    assert kinds(inspection) == ["wrong unit"]
    assert words in sentence(inspection, "wrong unit")
    assert len(inspection.problems[0].files) == 12


def test_times_out_of_order_between_and_within_files(tmp_path):
    folder = run(tmp_path / "bearing")
    (folder / "times.csv").write_text("file,time\nacc_00001.csv,10\nacc_00000.csv,0\n")
    assert "times out of order: acc_00000.csv is not later" in sentence(
        inspect(folder), "times out of order"
    )
    times = np.arange(1280) / RATE
    times[700] = 0.0
    (folder / "times.csv").unlink()
    write_csv(folder / "acc_00003.csv", shaken(0.1), times)
    assert "times out of order at line 702" in sentence(inspect(folder), "times out of order")


def test_files_that_shrank(tmp_path):
    folder = run(tmp_path / "bearing")
    write_csv(folder / "acc_00003.csv", shaken(0.05))
    whole = (folder / "acc_00007.csv").read_text()
    (folder / "acc_00007.csv").write_text(whole[: whole.rindex(",")])
    inspection = inspect(folder)
    assert kinds(inspection) == ["cut short", "shrunk"]
    assert inspection.problems[1].files == ("acc_00003.csv",)


def test_differing_rates_and_units(tmp_path):
    folder = run(tmp_path / "bearing")
    for path in folder.glob("*.csv"):
        other = path.stem == "acc_00003"
        times = np.arange(1280) / (2 * RATE if other else RATE)
        write_csv(path, shaken(0.1, seed=int(path.stem[4:])), times)
        unit = "m/s²" if other else "g"
        header = f"t,x [{unit}],y [{unit}]"
        path.write_text(path.read_text().replace("t,x,y", header), "utf-8")
    (folder / "sensor.yaml").write_text("")
    found = kinds(inspect(folder))
    assert "mixed rates" in found
    assert "mixed units" in found


def test_the_command_prints_it(tmp_path, cli):
    answer = cli("datasets", "inspect", run(tmp_path / "bearing", f"{YAML}every: 10\n"))
    assert answer.code == 0
    assert "level (root mean square): x 0.5" in answer.out
    assert "no problems found" in answer.out
