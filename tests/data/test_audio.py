"""Reading sound: the same samples for any block size, and a clear error for every broken file."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from ssdpt.data.audio import AudioError, open_audio, probe, read, stream
from ssdpt.types import Clip, Floats


def noise(seconds: float, rate: int = 16000, channels: int = 1, seed: int = 0) -> Floats:
    generator = np.random.default_rng(seed)
    return (0.1 * generator.standard_normal((round(seconds * rate), channels))).astype(np.float32)


def write(path: Path, samples: Floats, rate: int = 16000, **options: str) -> Path:
    soundfile.write(path, samples, rate, **options)
    return path


@pytest.fixture(scope="module")
def resampled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("audio") / "a.wav", noise(3.3, 44100, 2), 44100)


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3"])
def test_all_formats_read_at_their_length(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"a.{suffix}", noise(2, 32000, 2), 32000)
    info = probe(path)
    assert (info.sample_rate, info.channels, info.frames, info.seconds) == (32000, 2, 64000, 2.0)
    samples = read(path)
    assert samples.dtype == np.float32
    assert samples.shape == (32000,)


def test_own_rate_is_bit_exact(tmp_path: Path) -> None:
    samples = noise(5)
    path = write(tmp_path / "a.wav", samples, subtype="FLOAT")
    np.testing.assert_array_equal(read(path), samples[:, 0])


def test_channel_is_picked_by_index(tmp_path: Path) -> None:
    samples = noise(0.5, channels=8)
    path = write(tmp_path / "a.wav", samples, subtype="FLOAT")
    np.testing.assert_array_equal(read(path, channel=5), samples[:, 5])
    with pytest.raises(AudioError, match=r"a\.wav: there is no channel 8; the file has 8 channels"):
        read(path, channel=8)
    with pytest.raises(AudioError, match="no channel -1"):
        read(path, channel=-1)


@settings(max_examples=20, deadline=None)
@given(block=st.floats(0.0001, 5.0))
def test_block_length_does_not_change_the_samples(resampled_file: Path, block: float) -> None:
    blocks = list(stream(resampled_file, 16000, 1, block_seconds=block))
    np.testing.assert_array_equal(np.concatenate(blocks), read(resampled_file, channel=1))
    lengths = {len(piece) for piece in blocks[:-1]}
    assert lengths <= {max(1, round(block * 16000))}
    assert 0 < len(blocks[-1]) <= max(1, round(block * 16000))


def test_resampling_is_soxr_and_filters(tmp_path: Path) -> None:
    time = np.arange(44100 * 3) / 44100
    audible = np.sin(2 * np.pi * 1000 * time)
    above = np.sin(2 * np.pi * 12000 * time)  # would fold to 4 kHz without a filter
    path = write(tmp_path / "a.wav", (0.3 * (audible + above)).astype(np.float32), 44100)
    samples = read(path)
    assert len(samples) == 48000
    decoded, _ = soundfile.read(path, dtype="float32")
    np.testing.assert_allclose(samples, soxr.resample(decoded, 44100, 16000), atol=1e-5)
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    folded, tone = spectrum[4000 * 3], spectrum[1000 * 3]
    assert folded < 1e-4 * tone


def test_upsampling_gives_the_length(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(2, 8000), 8000)
    assert len(read(path)) == 32000


@pytest.mark.parametrize("rate", [1, 999])
def test_a_rate_that_no_sound_has_is_refused(tmp_path: Path, rate: int) -> None:
    """Resampled from 1 Hz, some kilobytes would fill the memory."""
    path = write(tmp_path / "a.wav", noise(2, 8000), rate)
    with pytest.raises(AudioError, match=f"its header says {rate} Hz; sound and vibration have"):
        read(path)


def test_strict_refuses_another_rate(tmp_path: Path) -> None:
    path = write(tmp_path / "pump-3.wav", noise(1, 44100, 2), 44100)
    with pytest.raises(AudioError) as caught:
        read(path, strict=True)
    assert str(caught.value) == (
        f"{path}: 44.1 kHz, 2 channels; this model expects 16 kHz, channel 0 "
        f"(leave out --strict to have it resampled)"
    )
    assert len(read(path, 44100, strict=True)) == 44100


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    with soundfile.SoundFile(path, "w", 44100, 2) as file:
        for seed in range(40):
            file.write(noise(10, 44100, 2, seed))
    tracemalloc.start()
    samples = sum(len(block) for block in stream(path, block_seconds=5))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert samples == 400 * 16000
    assert peak < 8e6  # the whole file is 141 MB in float32


@pytest.mark.parametrize("kind", ["missing", "folder", "text", "zero bytes", "no samples"])
def test_no_sound_to_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.wav"
    messages = {
        "missing": "no such file",
        "folder": "a folder, not a sound file",
        "text": "not a readable sound file",
        "zero bytes": "empty file",
        "no samples": "0 samples",
    }
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("these are not the sounds you are looking for " * 50)
    elif kind == "zero bytes":
        path.touch()
    elif kind == "no samples":
        write(path, np.empty((0, 1), np.float32))
    for reader in (probe, read):
        with pytest.raises(AudioError) as caught:
            reader(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert messages[kind] in str(caught.value)
        assert "\n" not in str(caught.value)


def test_headerless_format_is_foreign(tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    path.write_bytes(bytes(1000))
    with pytest.raises(AudioError, match="not a readable sound file"):
        read(path)


CONTAINERS = [
    ("a.wav", "WAV", "LITTLE"),
    ("b.wav", "WAV", "BIG"),
    ("c.wav", "WAVEX", "FILE"),
    ("d.wav", "RF64", "FILE"),
    ("e.w64", "W64", "FILE"),
    ("f.flac", "FLAC", "FILE"),
    ("g.ogg", "OGG", "FILE"),
    ("h.mp3", "MP3", "FILE"),
]


@pytest.mark.parametrize(("name", "kind", "endian"), CONTAINERS)
@pytest.mark.parametrize("share", [0.4, 0.97])
def test_cut_off_files_are_found(
    tmp_path: Path, name: str, kind: str, endian: str, share: float
) -> None:
    path = write(tmp_path / name, noise(4), format=kind, endian=endian)
    assert len(read(path)) == 64000
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(AudioError, match="cut short") as caught:
        read(path)
    assert caught.value.problem == "cut short"


def test_ogg_cut_between_pages_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ogg", noise(10, 44100, 2), 44100)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rfind(b"OggS")])
    with pytest.raises(AudioError, match="the page that ends the stream is missing"):
        probe(path)


def test_header_without_sound(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(1))
    path.write_bytes(path.read_bytes()[:36])
    with pytest.raises(AudioError, match="no sound follows"):
        probe(path)


@pytest.mark.parametrize("size", [0xFFFFFFFF, 0x7FFFFFFF])
def test_wav_written_through_a_pipe_is_read(tmp_path: Path, size: int) -> None:
    path = write(tmp_path / "a.wav", noise(1))
    _set_data_size(path, size)
    assert len(read(path)) == 16000


def test_wav_whose_header_was_never_finished(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(1))
    _set_data_size(path, 0)
    with pytest.raises(AudioError, match="never finished, though 32,000 bytes of sound follow"):
        read(path)


def _set_data_size(path: Path, size: int) -> None:
    content = bytearray(path.read_bytes())
    at = content.index(b"data") + 4
    content[at : at + 4] = struct.pack("<I", size)
    path.write_bytes(content)


def test_flac_of_unknown_length_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flac", noise(1))
    content = bytearray(path.read_bytes())
    content[21] &= 0xF0  # the 36 bits of the stream's length
    content[22:26] = bytes(4)
    path.write_bytes(content)
    with pytest.raises(AudioError, match="its length is not in its header"):
        read(path)


def test_mp3_with_a_tag_in_front(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp3", noise(3))
    tag = b"ID3\x04\x00\x00" + bytes([0, 0, 2, 0]) + bytes(256)
    whole = tag + path.read_bytes()
    path.write_bytes(whole)
    assert len(read(path)) == 48000
    path.write_bytes(whole[:-2000])
    with pytest.raises(AudioError, match="bytes that its header promises"):
        probe(path)


def test_damage_in_the_middle_of_a_flac_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flac", noise(10))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 500] = np.random.default_rng(1).bytes(500)
    path.write_bytes(content)
    with pytest.raises(AudioError, match=r"damaged or cut short after \d(\.\d+)? s of 10 s"):
        read(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_numbers(tmp_path: Path, value: float) -> None:
    samples = noise(10)
    samples[8 * 16000] = value
    path = write(tmp_path / "a.wav", samples, subtype="FLOAT")
    with pytest.raises(AudioError, match=r"not numbers .* at 8 s"):
        read(path)


@pytest.mark.parametrize("value", [3e38, -3e38])
def test_samples_that_resampling_would_make_infinite(tmp_path: Path, value: float) -> None:
    samples = noise(10, 44100)
    samples[8 * 44100 : 8 * 44100 + 4 : 2] = value
    path = write(tmp_path / "a.wav", samples, 44100, subtype="FLOAT")
    with pytest.raises(AudioError, match=r"not numbers .* at 8 s"):
        read(path)


def test_too_few_samples_for_a_lower_rate(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", np.array([0.1, 0.2], np.float32), 192_000)
    with pytest.raises(AudioError, match=r"holds no sound"):
        read(path, 8000)


@pytest.mark.parametrize("value", [0.0, 0.25])
def test_silence(tmp_path: Path, value: float) -> None:
    path = write(tmp_path / "a.wav", np.full(16000 * 6, value, np.float32))
    with pytest.raises(AudioError, match=r"silent: all 6 s of channel 0 .* microphone"):
        read(path)


def test_sound_after_long_silence_is_sound(tmp_path: Path) -> None:
    samples = np.zeros(16000 * 9, np.float32)
    samples[-1] = 0.1
    assert len(read(write(tmp_path / "a.wav", samples))) == len(samples)


@pytest.mark.parametrize("rate", [16000, 44100])
def test_a_clip_in_memory_reads_as_its_file(tmp_path: Path, rate: int) -> None:
    samples = noise(6, rate)
    path = write(tmp_path / "a.wav", samples, rate, subtype="FLOAT")
    clip = Clip(samples[:, 0], rate)
    np.testing.assert_array_equal(read(clip), read(path))
    assert probe(clip) == probe(path)
    with pytest.raises(AudioError, match="clip: silent"):
        read(Clip(np.zeros(100), rate))


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3"])
def test_an_open_recording_is_read_again_from_its_beginning(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"a.{suffix}", noise(6, 44100), 44100)
    with open_audio(path) as reader:
        first, second = (np.concatenate(list(reader.blocks())) for _ in range(2))
    np.testing.assert_array_equal(first, read(path))
    # An MP3 decoder that goes back keeps some of its state: a few units in the last place.
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-6 if suffix == "mp3" else 0)
