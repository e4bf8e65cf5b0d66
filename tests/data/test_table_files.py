"""Sensor values in tables: CSV, MATLAB of both kinds, Parquet, and everything wrong with them."""

from __future__ import annotations

import sys
from pathlib import Path

import h5py
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.io

from ssdpt.data import audio
from ssdpt.data.layouts import read_layout
from ssdpt.data.snapshots import read_run
from ssdpt.data.tables import table_suffixes
from ssdpt.errors import SsdptError

RATE = 25600
FORMATS = ("csv", "mat", "mat73", "parquet")


def shaken(rows: int = 2560, axes: int = 2, seed: int = 0, level: float = 2.0) -> np.ndarray:
    """Acceleration in g, (rows, axes)."""
    return level * np.random.default_rng(seed).standard_normal((rows, axes))


def sensor(folder: Path, text: str = f"unit: g\nsample_rate: {RATE}\n") -> None:
    (folder / "sensor.yaml").write_text(text, "utf-8")


def write_csv(
    path: Path, values: np.ndarray, header: str = "", delimiter: str = ",", digits: int = 9
) -> Path:
    rows = [delimiter.join(f"{value:.{digits}g}" for value in row) for row in values]
    path.write_text("\n".join([*([header] if header else []), *rows, ""]), "utf-8")
    return path


def write_mat73(path: Path, **variables: object) -> Path:
    """As MATLAB writes it: an HDF5 file behind 512 bytes of its own, matrices transposed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            file[name] = np.atleast_2d(np.asarray(value, np.float64)).T
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    return path


def write(kind: str, folder: Path, values: np.ndarray) -> Path:
    """The same measurement in each format."""
    path = folder / f"shaken.{kind.removesuffix('73')}"
    if kind == "csv":
        return write_csv(path, values, ",".join("xyz"[: values.shape[1]]))
    if kind == "mat":
        scipy.io.savemat(path, {"acc": values})
    elif kind == "mat73":
        write_mat73(path, acc=values)
    else:
        columns = {"xyz"[number]: values[:, number] for number in range(values.shape[1])}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def refused(path: Path, problem: str) -> str:
    with pytest.raises(audio.AudioError) as error:
        audio.read(path, audio.probe(path).sample_rate)
    assert error.value.problem == problem
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value)


class TestEveryFormat:
    @pytest.mark.parametrize("kind", FORMATS)
    def test_samples_are_shares_of_full_scale(self, tmp_path, kind):
        values = shaken()
        sensor(tmp_path, f"unit: g\nfull_scale: 20\nsample_rate: {RATE}\n")
        path = write(kind, tmp_path, values)
        info = audio.probe(path)
        assert (info.sample_rate, info.channels, info.frames) == (RATE, 2, 2560)
        assert (info.unit, info.full_scale, info.vibration) == ("g", 20.0, True)
        for axis in (0, 1):
            samples = audio.read(path, RATE, axis)
            assert samples.dtype == np.float32
            np.testing.assert_allclose(samples * 20, values[:, axis], rtol=1e-6)

    @pytest.mark.parametrize("kind", FORMATS)
    def test_a_folder_of_tables_is_a_data_set(self, tmp_path, kind):
        sensor(tmp_path)
        (tmp_path / "normal").mkdir()
        write(kind, tmp_path / "normal", shaken())
        (recording,) = read_layout(tmp_path).recordings
        assert recording.label == "normal"
        assert [r.path for r in read_layout(recording.path).recordings] == [recording.path]

    @pytest.mark.parametrize("kind", FORMATS)
    def test_a_file_that_shrank_is_said_to_be_cut_short(self, tmp_path, kind):
        sensor(tmp_path)
        path = write(kind, tmp_path, shaken())
        whole = path.read_bytes()
        for share in (0.2, 0.5, 0.9, 0.98):
            part = whole[: int(share * len(whole))]
            if kind == "csv":  # up to within a row: a table that ends with a row looks whole
                part = part[: part.rindex(b",")]
            path.write_bytes(part)
            assert "cut short" in refused(path, "cut short")

    @pytest.mark.parametrize("kind", FORMATS)
    def test_wrong_units_are_refused(self, tmp_path, kind):
        sensor(tmp_path)
        path = write(kind, tmp_path, shaken(level=9810 / 50))
        assert "far beyond the full scale of 50 g; unit or full_scale is probably wrong" in refused(
            path, "wrong unit"
        )

    @pytest.mark.parametrize("kind", FORMATS)
    def test_values_without_a_unit_need_one(self, tmp_path, kind):
        sensor(tmp_path, f"sample_rate: {RATE}\n")
        path = write(kind, tmp_path, shaken())
        assert "its unit is not known; write unit (g, m/s²" in refused(path, "wrong unit")

    @pytest.mark.parametrize("kind", FORMATS)
    def test_a_rate_that_nobody_names(self, tmp_path, kind):
        sensor(tmp_path, "unit: g\n")
        path = write(kind, tmp_path, shaken())
        assert "its sample rate is not known" in refused(path, "refused")

    @pytest.mark.parametrize("kind", FORMATS)
    def test_cells_without_a_number(self, tmp_path, kind):
        sensor(tmp_path)
        values = shaken()
        values[99, 1] = np.nan
        path = write(kind, tmp_path, values)
        place = "line 101" if kind == "csv" else "row 100"
        assert f"{place}, " in refused(path, "not numbers")

    @pytest.mark.parametrize("kind", FORMATS)
    def test_zeros_and_a_dead_axis_are_silent(self, tmp_path, kind):
        sensor(tmp_path)
        values = shaken()
        values[:, 1] = 1.0  # gravity, and nothing else
        path = write(kind, tmp_path, values)
        assert len(audio.read(path, RATE, 0)) == 2560
        with pytest.raises(audio.AudioError, match="channel 1 hold one value"):
            audio.read(path, RATE, 1)
        path = write(kind, tmp_path, np.zeros((2560, 2)))
        assert "hold one value" in refused(path, "silent")

    @pytest.mark.parametrize("suffix", sorted(table_suffixes()))
    def test_an_empty_file(self, tmp_path, suffix):
        (path := tmp_path / f"empty{suffix}").touch()
        assert "an empty file" in refused(path, "empty")

    @pytest.mark.parametrize("suffix", sorted(table_suffixes()))
    def test_foreign_content(self, tmp_path, suffix):
        (path := tmp_path / f"foreign{suffix}").write_bytes(bytes(range(256)) * 20)
        with pytest.raises(audio.AudioError):
            audio.probe(path)

    @pytest.mark.parametrize(
        ("kind", "package"), [("mat", "scipy.io"), ("mat73", "h5py"), ("parquet", "pyarrow")]
    )
    def test_a_missing_package_is_named(self, tmp_path, monkeypatch, kind, package):
        path = write(kind, tmp_path, shaken())
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(SsdptError, match=r"pip install 'ssdpt\[sensors\]'"):
            audio.probe(path)

    def test_names_and_numbers_choose_columns(self, tmp_path):
        values = shaken(axes=3)
        path = write("csv", tmp_path, values)
        for columns, places, names in (
            ("[z, x]", [2, 0], ("z", "x")),
            ("[1]", [1], ("y",)),
            ("'[xz]'", [0, 2], ("x", "z")),
        ):
            sensor(tmp_path, f"unit: g\nsample_rate: {RATE}\ncolumns: {columns}\n")
            assert audio.probe(path).axes == names
            for axis, place in enumerate(places):
                np.testing.assert_allclose(
                    audio.read(path, RATE, axis) * 50, values[:, place], rtol=1e-6
                )
        sensor(tmp_path, f"unit: g\nsample_rate: {RATE}\ncolumns: [w]\n")
        assert "there are x, y, z" in refused(path, "refused")

    def test_axes_are_as_many_as_channels(self, tmp_path):
        path = write("csv", tmp_path, shaken())
        sensor(tmp_path, f"unit: g\nsample_rate: {RATE}\naxes: [x, y, z]\n")
        assert "names 3 axes (x, y, z), but it has 2 channels" in refused(path, "refused")


class TestCsv:
    @pytest.mark.parametrize("ending", ["csv", "txt", "tsv"])
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
    def test_any_delimiter_with_or_without_names(self, tmp_path, delimiter, ending):
        values = shaken(rows=50)
        sensor(tmp_path)
        for header in ("", delimiter.join(["x", "y"]), "# " + delimiter.join(["x", "y"])):
            path = write_csv(tmp_path / f"a.{ending}", values, header, delimiter)
            assert audio.is_recording(path)
            assert audio.probe(path).axes == (("x", "y") if header else ())
            np.testing.assert_allclose(audio.read(path, RATE, 1) * 50, values[:, 1], rtol=1e-6)

    def test_columns_without_names_are_counted(self, tmp_path):
        sensor(tmp_path, f"unit: g\nsample_rate: {RATE}\ncolumns: [acc]\n")
        path = write_csv(tmp_path / "a.csv", shaken(rows=50))
        assert "there are 2 columns without names, counted from 0" in refused(path, "refused")

    def test_whole_numbers_between_commas(self, tmp_path):
        sensor(tmp_path)
        values = np.random.default_rng(0).integers(-9, 9, (50, 2))
        path = write_csv(tmp_path / "a.csv", values.astype(float))
        assert audio.probe(path).channels == 2
        np.testing.assert_allclose(audio.read(path, RATE, 1) * 50, values[:, 1], rtol=1e-6)

    @pytest.mark.parametrize("delimiter", [";", "\t", " "])
    def test_decimal_commas(self, tmp_path, delimiter):
        values = shaken(rows=50)
        sensor(tmp_path)
        path = write_csv(tmp_path / "a.csv", values, delimiter=delimiter)
        path.write_text(path.read_text().replace(".", ","))
        np.testing.assert_allclose(audio.read(path, RATE, 1) * 50, values[:, 1], rtol=1e-6)

    def test_the_header_gives_name_unit_and_rate(self, tmp_path):
        rows = np.column_stack([np.arange(500) / 12800, shaken(rows=500)])
        path = write_csv(tmp_path / "a.csv", rows, "Time [s],acc_x [m/s^2],acc_y (m/s²)")
        info = audio.probe(path)
        assert (info.sample_rate, info.unit, info.full_scale) == (12800, "m/s²", 500.0)
        assert info.axes == ("acc_x", "acc_y")

    def test_a_line_of_units_and_lines_above(self, tmp_path):
        rows = np.column_stack([np.arange(500) / 12.8, shaken(rows=500)])
        path = write_csv(tmp_path / "a.csv", rows, "Logger 7\nOperator;me\nt;x;y\nms;g;g", ";")
        info = audio.probe(path)
        assert (info.sample_rate, info.unit, info.axes) == (12800, "g", ("x", "y"))

    def test_text_of_spreadsheets(self, tmp_path):
        text = "t;x [m/s²]\n" + "".join(f"{n / 2000:.4f};{n % 7}\n" for n in range(100))
        for encoding in ("utf-8-sig", "cp1252", "utf-16"):
            (path := tmp_path / "a.csv").write_text(text.replace(".", ","), encoding)
            assert (audio.probe(path).sample_rate, audio.probe(path).unit) == (2000, "m/s²")

    @pytest.mark.parametrize("rate", [2000, 12800, 25600, 51200])
    @pytest.mark.parametrize("digits", [3, 4, 9])
    def test_times_with_few_digits_give_the_rate(self, tmp_path, rate, digits):
        times = np.arange(rate) / rate
        text = "t,x [g]\n" + "".join(
            f"{time:.{digits}f},{number % 7}\n" for number, time in enumerate(times)
        )
        (path := tmp_path / "a.csv").write_text(text)
        assert audio.probe(path).sample_rate == rate

    def test_an_unnamed_column_that_rises_evenly_is_time(self, tmp_path):
        sensor(tmp_path, "unit: g\n")
        rows = np.column_stack([np.arange(500) / 12800, shaken(rows=500)])
        info = audio.probe(write_csv(tmp_path / "a.csv", rows))
        assert (info.sample_rate, info.channels) == (12800, 2)

    def test_dates_and_numbers_of_rows(self, tmp_path):
        text = "index,when,x [g]\n" + "".join(
            f"{n},2026-01-31T12:00:{n / 1000:09.6f},{n % 5}\n" for n in range(300)
        )
        (path := tmp_path / "a.csv").write_text(text)
        assert audio.is_recording(path)
        assert (audio.probe(path).sample_rate, audio.probe(path).channels) == (1000, 1)

    def test_times_out_of_order(self, tmp_path):
        times = np.arange(500) / 12800
        times[[200, 201]] = times[[201, 200]]
        rows = np.column_stack([times, shaken(rows=500)])
        path = write_csv(tmp_path / "a.csv", rows, "t,x [g],y [g]")
        assert "times out of order at line 203" in refused(path, "times out of order")

    def test_missing_samples(self, tmp_path):
        rows = np.column_stack([np.arange(500) / 12800, shaken(rows=500)])
        path = write_csv(tmp_path / "a.csv", np.delete(rows, range(100, 120), 0), "t,x [g],y [g]")
        assert "its times jump by 0.00164 s at line 102" in refused(path, "times out of order")

    def test_times_in_a_unit_that_is_not_named(self, tmp_path):
        rows = np.column_stack([np.arange(500) / 12.8, shaken(rows=500)])
        path = write_csv(tmp_path / "a.csv", rows, "t,x [g],y [g]")
        assert "12.8 values per second are no sample rate" in refused(path, "refused")

    @pytest.mark.parametrize("row", [0, 1, 2, 3, 40, 98])
    @pytest.mark.parametrize("columns", [1, 2])
    def test_text_among_numbers(self, tmp_path, row, columns):
        sensor(tmp_path)
        path = write_csv(tmp_path / "a.csv", shaken(rows=100, axes=columns))
        lines = path.read_text().splitlines()
        lines[row] = ",".join([*lines[row].split(",")[:-1], "overload"])
        path.write_text("\n".join(lines))
        if (row, columns) == (0, 1):  # looks like the name of the column
            assert audio.probe(path).axes == ("overload",)
        else:
            assert f"line {row + 1}: 'overload' is not a number" in refused(path, "not numbers")

    def test_an_empty_cell(self, tmp_path):
        sensor(tmp_path)
        path = write_csv(tmp_path / "a.csv", shaken(rows=100))
        lines = path.read_text().splitlines()
        lines[60] = "," + lines[60].split(",")[1]
        path.write_text("\n".join(lines))
        assert "line 61, the column: samples that are not numbers" in refused(path, "not numbers")

    @pytest.mark.parametrize("half", ["0.1", "0.1,", "0.1,-", "0.1,1e-"])
    def test_half_a_last_line(self, tmp_path, half):
        sensor(tmp_path)
        path = write_csv(tmp_path / "a.csv", shaken(rows=100))
        path.write_text(path.read_text() + half)
        assert "cut short: line 101" in refused(path, "cut short")

    def test_cut_within_the_last_number(self, tmp_path):
        sensor(tmp_path)
        rows = [f"{x:.6f},{y:.6f}" for x, y in shaken(rows=100)]
        path = tmp_path / "a.csv"
        path.write_text("\n".join(rows))  # whole, though its last line has no end
        assert audio.probe(path).frames == 100
        path.write_text("\n".join(rows)[:-3])
        assert "line 100, the last, ends within the number" in refused(path, "cut short")
        path.write_text("\n".join([*rows[:40], "0.5,0.25", *rows[41:]])[:-3])  # digits vary here
        assert audio.probe(path).frames == 100

    def test_two_units(self, tmp_path):
        rows = np.column_stack([np.arange(500) / 12800, shaken(rows=500)])
        path = write_csv(tmp_path / "a.csv", rows, "t,x [g],y [mm/s]")
        assert "different units (g and mm/s)" in refused(path, "wrong unit")
        sensor(tmp_path, "unit: g\ncolumns: [x]\n")
        assert audio.probe(path).unit == "g"
        sensor(tmp_path, "unit: m/s2\ncolumns: [x]\n")
        assert "different units (g and m/s²)" in refused(path, "wrong unit")

    def test_columns_in_another_kind_of_unit_are_no_channels(self, tmp_path):
        rows = np.column_stack([np.arange(500) / 12800, shaken(rows=500)])
        path = write_csv(tmp_path / "a.csv", rows, "t,x [g],bearing [°C]")
        assert audio.probe(path).axes == ("x",)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("times.csv", "file,time\n1,0\n2,10\n"),
            ("list.csv", "path,section\na.wav,01\nb.wav,02\n"),
            ("attributes_00.csv", "file_name,d1p,d1v\nfan/train/a.wav,speed,1\n"),
            ("faults.csv", "file,fault,severity,start_s,end_s,low_hz,high_hz\na,b,1,2,3,4,5\n"),
            ("scores.csv", "path,value\na.wav,0.1\nb.wav,0.2\n"),
            ("README.txt", "Recorded by hand.\n1 2 3\n"),
            ("notes.txt", "2026-01-31 oil changed, 3 litres\n2026-02-01 belt, 1\n"),
            ("empty.csv", ""),
        ],
    )
    def test_other_tables_are_no_recordings(self, tmp_path, name, text):
        (tmp_path / name).write_text(text)
        assert not audio.is_recording(tmp_path / name)

    def test_a_manifest_is_still_one(self, tmp_path):
        sensor(tmp_path)
        write_csv(tmp_path / "a.csv", shaken())
        (tmp_path / "list.csv").write_text("path,label\na.csv,normal\n")
        dataset = read_layout(tmp_path / "list.csv")
        assert (dataset.layout, dataset.recordings[0].path) == ("manifest", tmp_path / "a.csv")
        assert [item.path.name for item in read_layout(tmp_path).recordings] == ["a.csv"]


class TestMatlab:
    def test_the_longer_side_is_time(self, tmp_path):
        sensor(tmp_path)
        values = shaken(axes=3)
        for turned in (values, values.T):
            scipy.io.savemat(path := tmp_path / "a.mat", {"acc": turned})
            info = audio.probe(path)
            assert (info.frames, info.channels, info.axes) == (2560, 3, ("acc_0", "acc_1", "acc_2"))
            np.testing.assert_allclose(audio.read(path, RATE, 2) * 50, values[:, 2], rtol=1e-6)

    @pytest.mark.parametrize("version", ["5", "7.3"])
    def test_several_variables_are_named(self, tmp_path, version):
        variables = {"X097_DE_time": shaken()[:, 0], "X097_FE_time": shaken()[:, 1], "RPM": 1797.0}
        path = tmp_path / "97.mat"
        if version == "5":
            scipy.io.savemat(path, variables)
        else:
            write_mat73(path, **variables)
        sensor(tmp_path)
        sentence = refused(path, "refused")
        assert "X097_DE_time, X097_FE_time?" in sentence
        assert "columns: [X097_DE_time]" in sentence
        sensor(tmp_path, f"unit: g\nsample_rate: {RATE}\ncolumns: ['*_FE_time']\n")
        np.testing.assert_allclose(audio.read(path, RATE) * 50, shaken()[:, 1], rtol=1e-6)

    @pytest.mark.parametrize("version", ["5", "7.3"])
    def test_rate_and_times_of_the_file(self, tmp_path, version):
        sensor(tmp_path, "unit: g\n")
        path = tmp_path / "a.mat"
        for named in ({"fs": 12800.0}, {"t": np.arange(2560) / 12800}):
            variables = {"acc": shaken()[:, 0], **named}
            if version == "5":
                scipy.io.savemat(path, variables)
            else:
                write_mat73(path, **variables)
            assert (audio.probe(path).sample_rate, audio.probe(path).channels) == (12800, 1)

    def test_fields_of_a_structure(self, tmp_path):
        sensor(tmp_path, "unit: g\n")
        path = tmp_path / "a.mat"
        scipy.io.savemat(
            path, {"bearing": {"sr": 97656.0, "gs": shaken()[:, 0], "note": "baseline"}}
        )
        assert (audio.probe(path).sample_rate, audio.probe(path).frames) == (97656, 2560)


class TestParquet:
    def test_units_in_names_and_fields_and_a_column_of_times(self, tmp_path):
        times = np.datetime64("2026-01-31T12:00", "ns") + np.arange(500) * 78125
        for field in (
            pyarrow.field("x [m/s2]", pyarrow.float32()),
            pyarrow.field("x", pyarrow.float32(), metadata={"unit": "m/s²"}),
        ):
            schema = pyarrow.schema([("when", pyarrow.timestamp("ns")), field])
            columns = [times, shaken(rows=500)[:, 0].astype(np.float32)]
            table = pyarrow.table(columns, schema=schema)
            pyarrow.parquet.write_table(table, path := tmp_path / "a.parquet")
            info = audio.probe(path)
            assert (info.sample_rate, info.unit, info.axes) == (12800, "m/s²", ("x",))

    def test_tables_of_results_are_no_recordings(self, tmp_path):
        table = pyarrow.table({"path": ["a.wav"], "value": [0.5]})
        pyarrow.parquet.write_table(table, path := tmp_path / "part-0.parquet")
        assert not audio.is_recording(path)


def test_a_run_is_read_from_tables(tmp_path):
    sensor(tmp_path, f"unit: g\nsample_rate: {RATE}\nevery: 10\ncolumns: [x]\n")
    for number in range(4):
        write_csv(tmp_path / f"{number}.csv", shaken(seed=number), "x,y")
    (tmp_path / "5.csv").write_text("x,y\n")  # nothing was measured
    run = read_run(tmp_path)
    assert (run.snapshots.shape, run.unit, run.sample_rate) == ((4, 2560), "g", RATE)
    assert run.times.tolist() == [0, 10, 20, 30]
