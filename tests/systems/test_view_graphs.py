"""The hand-made views in torch are those of numpy, for clips of any length."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import UNTRAINED, longest_clip, views_of
from ssdpt.runtime.fourier import PowerSpectrum
from ssdpt.runtime.graph import LogMelGraph
from ssdpt.runtime.texture_graph import TextureFramesGraph
from ssdpt.systems.texture import view_graphs
from ssdpt.systems.texture.graph import HandMadeView
from ssdpt.systems.texture.view_graphs import VIEW_GRAPHS

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


@pytest.mark.parametrize("samples", LENGTHS)
def test_every_view_is_that_of_numpy(config, samples):
    front_end = TextureFrames(config.features, RATE)
    frames = front_end(noise(samples))
    expected = views_of(frames, front_end)
    assert set(VIEW_GRAPHS) == set(UNTRAINED) == set(expected)
    for name, graph in VIEW_GRAPHS.items():
        view = HandMadeView(graph(front_end, longest_clip(313)))
        both = view(torch.from_numpy(np.stack([frames, frames[::-1]])))
        np.testing.assert_allclose(both[0], expected[name], rtol=1e-9, atol=1e-9)
        backwards = views_of(frames[::-1], front_end)[name]
        np.testing.assert_allclose(both[1], backwards, rtol=1e-9, atol=1e-9)


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


def test_a_view_without_a_graph_is_named(detectors, monkeypatch):
    graphs = {name: graph for name, graph in VIEW_GRAPHS.items() if name != "envelope"}
    monkeypatch.setattr(view_graphs, "VIEW_GRAPHS", graphs)
    with pytest.raises(SsdptError, match="cannot be exported with the view envelope; fit it with"):
        detectors["texture"].system.graph()


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
            for part, value in zip(output.parts, score.parts.values(), strict=True):
                assert part.shape == (1, len(system.sections))
                assert part[0, place].item() == pytest.approx(value, rel=1e-5, abs=1e-5)
            if len(frames) >= graph.windows.frames:
                along = np.stack(list(score.timeline.parts.values()), 1)  # (windows, parts)
                np.testing.assert_allclose(output.windows[:, place], along, rtol=1e-4, atol=1e-4)


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
        view.weight * part[0, 0].item() for view, part in zip(weights, output.parts, strict=True)
    )
    assert value == pytest.approx(after, rel=1e-5)
