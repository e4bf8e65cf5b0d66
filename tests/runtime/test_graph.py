"""The graph in torch, before any exporter: the same log-mel, the same scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sounds import hum
from ssdpt.config.tree import load_config
from ssdpt.features.logmel import LogMel
from ssdpt.features.segments import gathered_segments, segments_of_clip
from ssdpt.runtime.graph import LogMelGraph, ModelGraph

LENGTHS = [1, 300, 512, 3000, 40_000]


@pytest.mark.parametrize(("arithmetic", "off"), [("float64", 2e-5), ("float32", 0.3)])
def test_the_log_mel_inside_is_the_log_mel(arithmetic, off):
    config = load_config("fast")
    graph, front_end = LogMelGraph(config, arithmetic), LogMel(config.features, 16000)
    # A strong tone over faint noise: what float32 is worst at.
    samples = np.sin(np.arange(40_000) * 0.4) + 1e-4 * np.random.default_rng(0).normal(size=40_000)
    for count in LENGTHS:
        clip = samples[:count].astype(np.float32)
        frames = graph(torch.from_numpy(clip)).numpy()
        assert frames.dtype == np.float32
        np.testing.assert_allclose(frames, front_end(clip), atol=off)


@pytest.mark.parametrize("frames", [1, 3, 16, 17, 100])
@pytest.mark.parametrize("hop", [1, 8, 20])
def test_gathered_segments_are_the_segments_of_the_clip(frames, hop):
    features = torch.randn(frames, 5)
    expected = segments_of_clip(features, 16, hop)
    torch.testing.assert_close(gathered_segments(features, 16, hop), expected, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["ssdpt", "ae", "gmm"])
def test_every_system_scores_in_its_graph_as_it_does(detectors, name):
    system = detectors[name].system
    graph = ModelGraph(system, "float64").eval()
    front_end = LogMel(system.config.features, 16000)
    for count in LENGTHS:
        samples = hum(3)[:count]
        with torch.inference_mode():
            outputs = dict(zip(graph.outputs, graph(torch.from_numpy(samples)), strict=True))
        for place, section in enumerate(system.sections):
            score = system.score([front_end(samples)], section)
            assert outputs["clip"][place].item() == pytest.approx(score.value, rel=1e-5, abs=1e-5)
            line = score.timeline
            np.testing.assert_allclose(outputs["score"][:, place], line.value, rtol=1e-5, atol=1e-5)
            assert set(graph.system.weights) == set(line.parts)
            for part, values in line.parts.items():
                np.testing.assert_allclose(outputs[part][:, place], values, rtol=1e-5, atol=1e-5)
        assert len(outputs["embedding"]) == len(line.value)


def test_the_dcase_form_of_the_score_has_a_graph(detectors):
    from ssdpt.systems.ssdpt.system import Ssdpt

    trained = detectors["ssdpt"].system
    config = load_config("tiny", {"ssdpt.score": "dcase", "ssdpt.target": "standardised"})
    system = Ssdpt(config, trained.classes, trained.network)
    samples = hum(3)
    outputs = dict(
        zip(
            (graph := ModelGraph(system, "float64").eval()).outputs,
            graph(torch.from_numpy(samples)),
            strict=True,
        )
    )
    score = system.score([LogMel(config.features, 16000)(samples)], "01")
    assert outputs["clip"][1].item() == pytest.approx(score.value, rel=1e-5)
