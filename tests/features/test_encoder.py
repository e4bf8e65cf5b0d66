"""Encoders: what they may be, and the embeddings of a stream."""

from __future__ import annotations

import json
import sys

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.features import encoder as encoders
from ssdpt.features.encoded_texture import EncodedTextureFrames, texture_frames
from ssdpt.features.encoder import encoder_of, with_encoder
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import views_of
from tiny_encoders import FILTERS, RATE, SIDECAR, write_encoder

SAMPLE_RATE = 16000  # of the recordings


def configured(file, **more):
    return with_encoder(
        load_config("tiny", {"system": "texture", "encoder.file": str(file), **more})
    )


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    file = tmp_path_factory.mktemp("encoder") / "tiny.onnx"
    return configured(write_encoder(file, sidecar=SIDECAR))


@pytest.fixture(scope="module")
def front_end(config):
    return texture_frames(config)


def noise(seconds, seed=0):
    count = round(seconds * SAMPLE_RATE)
    return (0.05 * np.random.default_rng(seed).standard_normal(count)).astype(np.float32)


def embeddings(front_end, sound):
    """The frames in which windows end, and their embeddings."""
    rows = front_end(sound)[:, -FILTERS:]
    frames = np.flatnonzero(~np.isnan(rows[:, 0]))
    return frames, rows[frames]


class TestFrames:
    def test_an_embedding_is_that_of_the_graph(self, config, front_end):
        settings = config.part(EncoderConfig)
        session = onnxruntime.InferenceSession(settings.file)
        # At its own rate nothing is resampled.
        audio = config.audio.model_copy(update={"sample_rate": RATE})
        at_own_rate = EncodedTextureFrames(config.features, audio, settings)
        sound = noise(0.5)[: RATE // 2]
        _, (embedding,) = embeddings(at_own_rate, sound)
        ((expected,),) = session.run(None, {"samples": sound[None]})
        np.testing.assert_allclose(embedding, expected, rtol=1e-3)  # float16

    def test_windows_follow_each_other(self, front_end):
        frames, rows = embeddings(front_end, noise(2.0))
        # Of half a second; a frame is 512 samples.
        assert frames.tolist() == [8000 // 512, 16000 // 512, 24000 // 512, 32000 // 512]
        assert len(np.unique(rows, axis=0)) == 4

    def test_the_end_counts_from_half_a_window_on(self, front_end):
        assert len(embeddings(front_end, noise(1.2))[0]) == 2
        assert len(embeddings(front_end, noise(1.3))[0]) == 3

    @pytest.mark.parametrize("seconds", [0.01, 0.1, 0.49])
    def test_a_short_clip_has_one(self, front_end, seconds):
        frames, rows = embeddings(front_end, noise(seconds))
        assert len(frames) == 1
        assert np.isfinite(rows).all()

    @settings(max_examples=20)
    @given(st.lists(st.integers(1, 9000), min_size=1, max_size=8), st.integers(1, 30000))
    def test_blocks_give_the_same_numbers(self, front_end, sizes, length):
        sound = noise(2.0)[:length]
        borders = np.cumsum([size for size in sizes if size < length])
        streamed = np.concatenate(list(front_end.stream(np.split(sound, borders))))
        np.testing.assert_array_equal(streamed, front_end(sound))

    def test_the_other_columns_stay(self, config, front_end):
        plain = TextureFrames(config.features, SAMPLE_RATE)
        sound = noise(1.5)
        frames = front_end(sound)
        np.testing.assert_array_equal(frames[:, : plain.bins], plain(sound))
        views = views_of(frames, front_end)
        for name, view in views_of(plain(sound), plain).items():
            np.testing.assert_array_equal(views[name], view)

    def test_the_cache_holds_its_numbers_exactly(self, front_end):
        frames = front_end(noise(1.0))
        np.testing.assert_array_equal(frames, frames.astype(front_end.storage).astype(np.float32))

    def test_another_encoder_is_another_entry_of_the_cache(self, front_end, tmp_path):
        other = configured(write_encoder(tmp_path / "other.onnx", seed=1, sidecar=SIDECAR))
        assert texture_frames(other).settings != front_end.settings
        json.dumps(front_end.settings)

    def test_a_window_ends_in_every_clip_however_long_it_is(self, tmp_path):
        """A graph of fixed length, as long as a clip: the beginning is repeated to fill it."""
        file = write_encoder(tmp_path / "long.onnx", shape=(1, 10 * RATE), sidecar=SIDECAR)
        frames, _ = embeddings(texture_frames(configured(file)), noise(10.0))
        assert frames.tolist() == [80000 // 512, 160000 // 512]


class TestView:
    @pytest.mark.parametrize(("pooling", "pool"), [("mean", np.mean), ("max", np.max)])
    def test_the_mean_is_taken_by_the_view_and_the_largest_here(self, tmp_path, pooling, pool):
        file = write_encoder(tmp_path / "a.onnx", sidecar={**SIDECAR, "pooling": pooling})
        front_end = texture_frames(configured(file))
        sound = noise(2.0)
        _, rows = embeddings(front_end, sound)
        view = views_of(front_end(sound), front_end)["encoder"]
        assert len(view) == (len(rows) if pooling == "mean" else 1)
        np.testing.assert_allclose(pool(view, axis=0), pool(rows, axis=0), rtol=1e-6)

    @pytest.mark.parametrize(("pooling", "pool"), [("mean", np.mean), ("max", np.max)])
    def test_times_of_an_output_are_pooled(self, tmp_path, pooling, pool):
        file = write_encoder(tmp_path / "a.onnx", "times", sidecar={**SIDECAR, "pooling": pooling})
        encoder = encoder_of(configured(file).part(EncoderConfig))
        sound = noise(0.25)
        (output,) = onnxruntime.InferenceSession(str(file)).run(None, {"samples": sound[None]})
        np.testing.assert_allclose(encoder(sound), pool(output[0], axis=0), rtol=1e-5)

    def test_frames_without_a_window_have_none(self, front_end):
        view = views_of(front_end(noise(2.0))[:10], front_end)["encoder"]
        assert len(view) == 0


class TestSettings:
    def test_what_is_found_stands_in_the_settings(self, config):
        found = config.part(EncoderConfig)
        assert found.dimensions == FILTERS
        assert found.sidecar.sample_rate == RATE
        assert len(found.digest) == 32
        assert with_encoder(config) == config

    @pytest.mark.parametrize("shape", [("n",), (1, "n"), ("clips", "n"), (1, 1, "n")])
    def test_inputs_of_other_shapes(self, tmp_path, shape):
        file = write_encoder(tmp_path / "a.onnx", shape=shape, sidecar=SIDECAR)
        embedding = encoder_of(configured(file).part(EncoderConfig))(noise(0.25))
        assert embedding.shape == (FILTERS,)

    def test_no_encoder_changes_nothing(self):
        config = load_config("tiny", {"system": "texture"})
        assert with_encoder(config) is config
        assert type(texture_frames(config)) is TextureFrames

    def test_a_sidecar_may_be_json(self, tmp_path):
        file = write_encoder(tmp_path / "a.onnx")
        file.with_suffix(".json").write_text(json.dumps(SIDECAR), "utf-8")
        assert configured(file).part(EncoderConfig).sidecar.sample_rate == RATE

    def test_a_sidecar_may_stand_in_the_settings(self, tmp_path):
        file = write_encoder(tmp_path / "a.onnx")
        config = configured(file, **{"encoder.sidecar": SIDECAR})
        assert config.part(EncoderConfig).sidecar.window_seconds == 0.5

    def test_windows_have_at_least_the_samples_that_it_takes(self, tmp_path):
        file = write_encoder(tmp_path / "a.onnx", sidecar={**SIDECAR, "minimum_samples": 6000})
        assert encoder_of(configured(file).part(EncoderConfig)).window == 6000


class TestRefused:
    def test_without_a_sidecar_it_shows_one_that_can_be_used(self, tmp_path):
        file = write_encoder(tmp_path / "a.onnx")
        with pytest.raises(SsdptError, match="no sidecar") as raised:
            configured(file)
        _, _, example = str(raised.value).partition("for example: ")
        file.with_suffix(".yaml").write_text(example, "utf-8")
        sidecar = configured(file).part(EncoderConfig).sidecar
        assert (sidecar.input, sidecar.output) == ("samples", "embedding")

    @pytest.mark.parametrize(
        ("kind", "sentence"),
        [
            ("length", "an embedding has the same length for any"),
            ("square", "an encoder gives"),
            ("silent", "not finite numbers for digital silence"),
            ("nan", "not finite numbers for noise"),
            ("constant", "does not use its input"),
            ("foreign", "not an encoder that ONNX Runtime"),
            ("weights elsewhere", "with its weights inside"),
            ("two outputs", "set output in its sidecar to one of its outputs: embedding, level"),
            ("two inputs", "set input in its sidecar"),
        ],
    )
    def test_graphs_that_are_no_encoders(self, tmp_path, monkeypatch, kind, sentence):
        monkeypatch.chdir(tmp_path)  # where weights.bin lies
        file = write_encoder(tmp_path / "a.onnx", kind, sidecar=SIDECAR)
        with pytest.raises(SsdptError, match=sentence):
            configured(file)

    @pytest.mark.parametrize("scale", [1e-9, 1e9])
    def test_values_that_16_bits_cannot_hold(self, tmp_path, scale):
        file = write_encoder(tmp_path / "a.onnx", "scaled", scale=scale, sidecar=SIDECAR)
        with pytest.raises(SsdptError, match="scaled to about 1"):
            configured(file)

    def test_further_inputs(self, tmp_path):
        sidecar = {**SIDECAR, "input": "samples"}
        file = write_encoder(tmp_path / "a.onnx", "two inputs", sidecar=sidecar)
        with pytest.raises(SsdptError, match="takes samples only"):
            configured(file)

    def test_one_of_several_outputs_is_named(self, tmp_path):
        sidecar = {**SIDECAR, "output": "level"}
        file = write_encoder(tmp_path / "a.onnx", "two outputs", sidecar=sidecar)
        assert configured(file).part(EncoderConfig).dimensions == FILTERS

    def test_a_spectrogram_as_input(self, tmp_path):
        from onnx import TensorProto, helper, save

        shape = [1, 128, "times"]
        graph = helper.make_graph(
            [helper.make_node("Identity", ["mels"], ["out"])],
            "spectrogram",
            [helper.make_tensor_value_info("mels", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)],
        )
        file = tmp_path / "a.onnx"
        operators = [helper.make_opsetid("", 18)]
        save(helper.make_model(graph, opset_imports=operators, ir_version=9), file)
        file.with_suffix(".yaml").write_text("sample_rate: 8000", "utf-8")
        with pytest.raises(SsdptError, match="an encoder takes samples"):
            configured(file)

    def test_windows_too_short_for_it(self, tmp_path):
        file = write_encoder(tmp_path / "a.onnx", sidecar={**SIDECAR, "window_seconds": 0.005})
        with pytest.raises(SsdptError, match="fails on 40 samples"):
            configured(file)

    def test_files_that_are_no_graphs(self, tmp_path):
        file = tmp_path / "a.onnx"
        with pytest.raises(SsdptError, match="cannot be read: No such file"):
            configured(file)
        file.write_text("hello", "utf-8")
        with pytest.raises(SsdptError, match="not an encoder that ONNX Runtime"):
            configured(file)

    def test_large_files(self, tmp_path, monkeypatch):
        file = write_encoder(tmp_path / "a.onnx", sidecar=SIDECAR)
        monkeypatch.setattr(encoders, "LARGEST_BYTES", 100)
        with pytest.raises(SsdptError, match="use a smaller one"):
            configured(file)

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("window_seconds: 2", "sample_rate: is missing"),
            ("sample_rate: 8000\npoolng: max", "did you mean .pooling."),
            ("sample_rate: [", "not valid YAML"),
        ],
    )
    def test_sidecars_with_mistakes(self, tmp_path, text, sentence):
        file = write_encoder(tmp_path / "a.onnx")
        file.with_suffix(".yaml").write_text(text, "utf-8")
        with pytest.raises(SsdptError, match=rf"a\.yaml: .*{sentence}"):
            configured(file)

    def test_a_file_that_has_changed(self, tmp_path):
        file = write_encoder(tmp_path / "a.onnx", sidecar=SIDECAR)
        config = configured(file)
        encoders._open.cache_clear()
        write_encoder(file, seed=1)
        with pytest.raises(SsdptError, match="has changed since the fit"):
            with_encoder(config)

    def test_values_that_are_no_numbers_while_it_runs(self, tmp_path):
        encoder = encoder_of(
            configured(write_encoder(tmp_path / "a.onnx", sidecar=SIDECAR)).part(EncoderConfig)
        )
        with pytest.raises(SsdptError, match="not finite numbers"):
            encoder(np.full(RATE // 2, np.inf, np.float32))

    def test_other_systems(self, tmp_path):
        config = load_config("tiny", {"system": "gmm", "encoder.file": str(tmp_path / "a.onnx")})
        with pytest.raises(SsdptError, match="system gmm takes no encoder"):
            with_encoder(config)

    def test_without_onnx_runtime(self, tmp_path, monkeypatch):
        file = write_encoder(tmp_path / "a.onnx", sidecar=SIDECAR)
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(SsdptError, match=r"pip install 'ssdpt\[edge\]'"):
            configured(file)
