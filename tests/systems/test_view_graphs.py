"""The hand-made views in torch are those of numpy, for clips of any length."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ssdpt.config.tree import load_config
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import (
    LEAST_FRAMES,
    UNTRAINED,
    at_least,
    borders,
    longest_clip,
    rows_in,
    views_of,
)
from ssdpt.runtime.fourier import PowerSpectrum
from ssdpt.runtime.graph import LogMelGraph
from ssdpt.runtime.texture_graph import TextureFramesGraph
from ssdpt.systems.texture.view_graphs import RowCut, Rows, view_graphs

RATE = 16000
LENGTHS = [1, 700, 5_000, 16_000, 33_001, 100_003]  # samples


def noise(count):
    """A tone over noise that swells."""
    random, time = np.random.default_rng(count), np.arange(count) / RATE
    swell = 1 + 0.5 * np.sin(2 * np.pi * 3 * time)
    return (0.1 * np.sin(2 * np.pi * 440 * time) + 0.02 * swell * random.normal(size=count)).astype(
        np.float32
    )


@pytest.fixture(scope="module", params=["best", "tiny"])
def config(request):
    return load_config(request.param)


@pytest.mark.parametrize("seconds", [1.0, 0.5, None])
@pytest.mark.parametrize("samples", LENGTHS)
def test_every_view_is_that_of_numpy(config, samples, seconds):
    front_end = TextureFrames(config.features, RATE)
    frames = at_least(front_end(noise(samples)), LEAST_FRAMES)
    expected = views_of(frames, front_end, seconds)
    graphs = view_graphs(front_end, seconds, longest_clip(313))
    assert set(graphs) == set(UNTRAINED) == set(expected)
    for name, graph in graphs.items():
        rows = graph(torch.from_numpy(frames).double())
        assert rows.shape == expected[name].shape
        np.testing.assert_allclose(rows, expected[name], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seconds", [1.0, 0.5, 0.3, None])
def test_any_number_of_frames_is_cut_as_by_numpy(seconds):
    front_end = TextureFrames(load_config().features, RATE)
    rows = Rows(front_end, seconds)
    longest = rows.longest(longest_clip(313))
    for count in range(LEAST_FRAMES, longest_clip(313) + 1):
        cut = borders(count, rows_in(count, front_end, seconds))
        of_graph = RowCut.of(count, rows(count))
        np.testing.assert_array_equal(of_graph.place[:, 0], cut[:-1])
        np.testing.assert_array_equal(of_graph.length, np.diff(cut))
        np.testing.assert_array_equal(of_graph.inside.sum(1), np.diff(cut))
        assert np.diff(cut).max() <= longest


@pytest.mark.parametrize("samples", LENGTHS)
def test_the_frames_are_those_of_numpy(config, samples):
    front_end, clip = TextureFrames(config.features, RATE), noise(samples)
    expected = front_end(clip)
    exact = TextureFramesGraph(front_end, LogMelGraph(config, "float64"), torch.float64)
    np.testing.assert_allclose(exact(torch.from_numpy(clip)), expected, rtol=0, atol=1e-6)
    coarse = TextureFramesGraph(front_end, LogMelGraph(config, "float32"), torch.float32)
    # A level beside the middle of two numbers of float16 may be rounded to the other one.
    off = np.abs(coarse(torch.from_numpy(clip)).numpy() - expected)
    assert off.max() <= 0.0625
    assert (off > 1e-6).mean() < 0.01


@pytest.mark.parametrize("size", [256, 320, 1024, 4096])
def test_a_spectrum_in_one_step_or_two_is_that_of_numpy(size):
    windows = np.random.default_rng(size).normal(size=(3, size))
    weights = np.hanning(size)
    expected = np.abs(np.fft.rfft(windows * weights)) ** 2
    spectrum = PowerSpectrum(weights, torch.float64)(torch.from_numpy(windows))
    np.testing.assert_allclose(spectrum, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["texture", "multiview"])
def test_the_graph_scores_clips_of_any_length_as_every_section(detectors, name):
    system = detectors[name].system
    graph = system.graph().eval()
    for samples in LENGTHS:
        frames = system.front_end(noise(samples))
        with torch.inference_mode():
            output = graph(torch.from_numpy(frames))
        score_as = system.score_sections([frames].copy)
        for place, section in enumerate(system.sections):
            score = score_as(section)
            assert list(graph.weights) == list(score.parts)
            for part, values in zip(output.parts, score.timeline.parts.values(), strict=True):
                np.testing.assert_allclose(part[:, place], values, rtol=1e-4, atol=1e-4)


def test_clips_added_since_the_fit_are_in_the_graph(detectors, models):
    from ssdpt import Detector

    system = Detector.load(models["texture"]).system
    clips = [system.front_end(noise(50_000 + 1000 * number)) for number in range(6)]
    frames = system.front_end(noise(48_000))
    before = system.score([frames], "00").value
    system.add_normals([[clip] for clip in clips], "00", "target")
    after = system.score([frames], "00").value
    assert after < before
    with torch.inference_mode():
        output = system.graph()(torch.from_numpy(frames))
    weights = system.section_models["00"].views.values()
    value = sum(
        view.weight * part[:, 0].mean().item()
        for view, part in zip(weights, output.parts, strict=True)
    )
    assert value == pytest.approx(after, rel=1e-5)
