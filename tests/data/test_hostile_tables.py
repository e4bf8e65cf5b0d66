"""Tables that are built to do harm: to read other files, to fill the memory, to never end."""

from __future__ import annotations

import h5py
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from ssdpt.data import audio


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sensor.yaml").write_text("sample_rate: 25600\nfull_scale: 300\n")
    return tmp_path


def refused(path):
    with pytest.raises(audio.AudioError) as caught:
        audio.read(path)
    return str(caught.value)


def test_a_matlab_file_cannot_read_another_file(folder):
    secret = folder / "secret.bin"
    secret.write_bytes(bytes(range(200)))
    path = folder / "a.mat"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (200,), "u1", external=[(str(secret), 0, 200)])
    assert "its values are in another file" in refused(path)


def test_links_of_a_matlab_file_are_not_followed(folder):
    other = folder / "other.h5"
    values = np.sin(np.arange(500.0))
    with h5py.File(other, "w") as file:
        file["secret"] = values
    path = folder / "a.mat"
    with h5py.File(path, "w") as file:
        file["x"] = values
        file["linked"] = h5py.ExternalLink(str(other), "/secret")
        file["again"] = h5py.SoftLink("/x")
        group = file.create_group("group")
        for number in range(50):
            group[f"up{number}"] = file["/"]
    np.testing.assert_allclose(audio.read(path, 25600) * 300, values, atol=1e-4)


def test_values_that_were_never_written_are_not_made_up(folder):
    path = folder / "a.mat"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (10**10,), "f8", chunks=(10**6,))
    assert "promises 80000000000 bytes of values and holds far fewer" in refused(path)


def test_a_small_parquet_file_cannot_fill_the_memory(folder):
    path = folder / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": np.zeros(30_000_000, np.float32)}), path)
    assert path.stat().st_size < 200_000
    assert "promises 240000000 bytes of values and holds far fewer" in refused(path)
