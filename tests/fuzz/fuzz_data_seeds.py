"""Seeds of readers of recordings and measurements."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile

import numpy as np
import soundfile
from fuzz_target import Seeds

_NOISE = 0.1 * np.random.default_rng(0).standard_normal(400)


def sound(kind: str, subtype: str | None = None, channels: int = 1, rate: int = 16000) -> bytes:
    """A short sound file."""
    file = io.BytesIO()
    samples = np.stack([_NOISE] * channels, axis=1)
    soundfile.write(file, samples, rate, format=kind, subtype=subtype)
    return file.getvalue()


def promising(flac: bytes) -> bytes:
    """The header of a FLAC file with the largest number of samples that it can name."""
    return flac[:21] + bytes([flac[21] | 0x0F]) + b"\xff" * 4 + flac[26:]


def audio_file() -> Seeds:
    for kind in ("WAV", "FLAC", "OGG", "MP3", "AIFF", "W64", "RF64", "CAF", "AU"):
        yield kind.lower(), sound(kind)
    yield "wav-float", sound("WAV", "FLOAT", 2, 44100)
    yield "wav-adpcm", sound("WAV", "MS_ADPCM")
    yield "flac-8-channels", sound("FLAC", None, 8, 192_000)
    yield "flac-promises-too-much", promising(sound("FLAC"))
    yield "ogg-opus", sound("OGG", "OPUS", 1, 48000)


def audio_upload() -> Seeds:
    yield "l16", b"audio/L16;rate=16000;channels=2\n" + bytes(range(64))
    yield "wav", b"audio/wav\n" + sound("WAV")
    yield "flac", b"audio/flac\n" + sound("FLAC")
    yield "ogg", b"audio/ogg\n" + sound("OGG")
    yield "mp3", b"audio/mpeg\n" + sound("MP3")
    yield "flac-promises-too-much", b"audio/flac\n" + promising(sound("FLAC"))
    yield "float", b"application/octet-stream\n" + sound("WAV", "FLOAT", 2, 44100)


def resampled_sound() -> Seeds:
    """Rate, whether it is exact, rate of the machine, channels, format, pieces; then samples."""
    noise = _NOISE.astype("<f4")
    whole = (_NOISE * 32767).astype("<i2").tobytes()
    yield "studio", struct.pack("<IBBBBH", 44100, 1, 1, 0, 0, 0) + noise.tobytes()
    yield "pieces", struct.pack("<IBBBBH", 16000, 1, 4, 1, 1, 7) + whole
    yield "slow", struct.pack("<IBBBBH", 1000, 1, 6, 0, 1, 3) + whole
    yield "ultrasound", struct.pack("<IBBBBH", 384_000, 1, 1, 0, 0, 2) + noise.tobytes()
    yield "rate-0", struct.pack("<IBBBBH", 0, 1, 1, 0, 1, 0) + whole
    yield "prime", struct.pack("<IBBBBH", 99_991, 1, 3, 0, 0, 5) + noise.tobytes()
    loud = np.where(np.arange(400) % 2, np.float32(3e38), np.float32(-3e38)).astype("<f4")
    yield "loud", struct.pack("<IBBBBH", 44100, 1, 1, 0, 0, 0) + loud.tobytes()
    noise[7] = np.nan
    yield "not-numbers", struct.pack("<IBBBBH", 44100, 1, 1, 0, 0, 0) + noise.tobytes()


def snapshot_message() -> Seeds:
    values = [round(math.sin(n), 3) for n in range(300)]
    yield "values", json.dumps({"time": 1.79e9, "sample_rate": 3200, "values": values}).encode()
    axes = {"x": values[:260], "y": values[:260]}
    message = {"time": "2026-01-31T12:00:00Z", "unit": "m/s2", "axes": axes, "sample_rate": 25600}
    yield "axes", json.dumps(message).encode()
    yield "flac", sound("FLAC", None, 2)
    yield "once-promises-too-much", promising(sound("FLAC"))
    yield "once-too-large", b'{"sample_rate": 3200, "values": [1e39, 1e308]}'
    yield "once-escapes", b'{"sample_rate": 3200, "axes": {"\\u001b[2J\\n": [1, 2]}}'
    yield "once-long-name", b'{"sample_rate": 3200, "axes": {"%s": [1]}}' % (b"x" * 3900)


def operating_data() -> Seeds:
    yield "value", b"RUN"
    yield "number", b"2"
    yield "document", b'{"data": {"speed": 24.7, "0": {"load/a": 80}}}'
    yield "list", b'{"data": [{"load/a": "55"}]}'
    yield "once-escapes", b'"\x1b[2J\x07\\n\x00"'


def layout() -> Seeds:
    yield (
        "dcase",
        b"fan/train/section_00_source_train_normal_0001_strength_1_ambient.wav\n"
        b"fan/source_test/section_00_source_test_anomaly_0001.wav\n"
        b"fan/attributes_00.csv\tfile_name,d1p,d1v\\nfan/train/a.wav,speed,2\n",
    )
    yield (
        "mimii",
        b"6_dB_fan/fan/id_00/normal/00000001.wav\n6_dB_fan/fan/id_00/abnormal/00000002.wav",
    )
    yield "folders", b"pump/normal/a.wav\npump/loose belt/b.wav\npump/c.flac"
    yield "files", b"a.wav\nb/c.wav\n.hidden.wav\nd.mp3"
    yield (
        "snapshots",
        b"2003.10.22.12.06.24.wav\n2003.10.22.12.16.24.wav\ntimes.csv\tfile,time\\n"
        b"2003.10.22.12.06.24.wav,0\\n2003.10.22.12.16.24.wav,2026-01-31T12:00:00",
    )
    yield (
        "escapes",
        b"\x1b[2J\x1b]0;title\x07.wav\nnormal/\x0d\x0bb.wav\n\xff\xfe/c.wav\n\xe2\x80\xae.wav",
    )
    yield "sensor", b"a.wav\nsensor.yaml\tunit: g\\nfull_scale: 50\\nsnapshot: 0.005"


def manifest() -> Seeds:
    yield (
        "full",
        b"path,machine,section,domain,split,label,attributes,fault\n"
        b"a.wav,fan,00,source,train,normal,speed=2;load=high,\n"
        b'sub/b.wav,"fan, big",01,target,test,anomaly,,belt\n',
    )
    yield "short", b"path;label\r\na.wav;normal\r\nc.flac;abnormal\r\n"
    yield "escapes", b"path,machine\na.wav,\x1b[31mred\n\x1b]0;title\x07,\x9b\n"


def _rows(delimiter: str = ",", decimal: str = ".") -> str:
    lines = (f"{0.001 * n:.3f}{delimiter}{math.sin(n):.4f}" for n in range(24))
    return "\n".join(lines).replace(".", decimal)


def sensor_csv() -> Seeds:
    yield "comma", f"time [s],acc_x [g]\n{_rows()}\n".encode()
    yield "semicolon", f"Zeit;acc_x\ns;m/s2\n{_rows(';', ',')}\n".encode("cp1252")
    yield "utf16", f"time\tvalue\n{_rows(chr(9))}\n".encode("utf-16")
    yield "blanks", f"# made by a logger\n% time acc\n{_rows(' ')}".encode()
    times = "\n".join(f"2026-01-31 12:00:00.{n:03d},{math.sin(n):.3f}" for n in range(24))
    yield "times", f"when,x\n{times}\n".encode()
    yield "before-year-one", "\n".join(f"0001-01-01 00:00:0{n},1" for n in range(9)).encode()


def sensor_yaml() -> Seeds:
    yield (
        "full",
        b"unit: g\nfull_scale: 50\nsample_rate: 1000\ncolumns: [acc_x, acc_y]\naxes: [x, y]\n",
    )
    yield "snapshot", b"snapshot: 0.01\nevery: 600\ncolumns: 1\n"
    yield "pattern", b'columns: ["acc_*"]\nunit: m/s^2'


def sensor_mat() -> Seeds:
    import h5py
    from scipy.io import savemat

    values = np.sin(np.arange(40.0))
    for name, compressed in (("version-5", False), ("version-5-compressed", True)):
        file = io.BytesIO()
        content = {"X097_DE_time": values, "fs": 12000.0, "s": {"a": np.ones((3, 4)), "b": "text"}}
        savemat(file, content, do_compression=compressed)
        yield name, file.getvalue()
    file = io.BytesIO()
    savemat(file, {"x": values}, format="4")
    yield "version-4", file.getvalue()
    file = io.BytesIO()
    with h5py.File(file, "w", libver="latest") as content:
        content["x"] = values[:8].astype(np.float32)
    yield "version-7.3", file.getvalue()
    file = io.BytesIO()
    with h5py.File(file, "w", libver="latest") as content:
        content.create_dataset("x", (10**9,), "f8", chunks=(10**6,))  # none of it is written
        for number in range(20):
            content[f"up{number}"] = content["/"]
    yield "once-promises-too-much", file.getvalue()


def sensor_parquet() -> Seeds:
    import pyarrow
    import pyarrow.parquet

    values = np.sin(np.arange(20.0))
    times = pyarrow.array(np.arange(20) * 1_000_000, pyarrow.timestamp("ns"))
    table = pyarrow.table(
        {"time": times, "acc [g]": values, "n": pyarrow.array([None] * 20, "int8")}
    )
    for name, compression in (("plain", "none"), ("snappy", "snappy")):
        file = io.BytesIO()
        pyarrow.parquet.write_table(
            table, file, compression=compression, store_schema=False, write_statistics=False
        )
        yield name, file.getvalue()
    same = pyarrow.table({"x": pyarrow.array(np.zeros(40_000_000, np.float32))})
    file = io.BytesIO()
    pyarrow.parquet.write_table(
        same, file, write_statistics=False, store_schema=False, data_page_size=1 << 30
    )
    yield "once-promises-too-much", file.getvalue()


def dataset_archive() -> Seeds:
    for name, member in (("good", "fan/train/a.wav"), ("outside", "../a.wav"), ("drive", "C:\\a")):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as content:
            content.writestr(zipfile.ZipInfo(member), b"sound")
            content.writestr(zipfile.ZipInfo("__MACOSX/b"), b"")
        yield name, file.getvalue()
