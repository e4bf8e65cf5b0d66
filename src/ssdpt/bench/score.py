"""Speed of scoring, compared with the time of the matrix products alone."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ssdpt.bench.machine import describe, matrix_peak, seconds, wait
from ssdpt.bench.published import PublishedNetwork
from ssdpt.bench.synthetic import SECTIONS, synthetic_clips
from ssdpt.config.tree import Config, load_config
from ssdpt.features.logmel import LogMel
from ssdpt.features.segments import segments_of_clip
from ssdpt.nn.native import is_native
from ssdpt.runtime.openvino_core import openvino_core
from ssdpt.systems.parts.network import seeded
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.systems.ssdpt.system import Ssdpt, build_network
from ssdpt.training.loop import choose_device
from ssdpt.types import Floats

_HOPS = (1, 8)
_EAGER_BATCH = 64
_CLIP_SECONDS = 10
_GPU_CLIPS, _GPU_AT_ONCE = 8_400, 16

ScoreClip = Callable[[], float]  # from the samples of a clip to its score


def bench_score(device_name: str, budget: float) -> dict[str, Any]:
    """Seconds per ten-second clip, from samples to score; on a GPU also for a whole data set."""
    device = choose_device(device_name)
    if device.type == "cuda":
        return _on_gpu(device)
    samples = np.random.default_rng(0).normal(0, 0.1, _CLIP_SECONDS * 16_000).astype(np.float32)
    config = load_config("paper", {"device": "cpu"})
    flops = untrained_system(config).network.flops()
    front_end = LogMel(config.features, config.audio.sample_rate)
    rows: dict[str, dict[str, float]] = {}
    floors, exact = {}, {}
    for hop in _HOPS:
        system = untrained_system(load_config("paper", {"device": "cpu", "ssdpt.hop": hop}))
        segments = (len(front_end(samples)) - config.part(SsdptConfig).frames) // hop + 1
        scorers = _scorers(system, front_end, samples)
        exact[hop] = {name: scorer() for name, scorer in scorers.items()}
        times, peak = _best(scorers, device, budget)
        floors[hop] = segments * flops / peak
        for name, spent in times.items():
            rows.setdefault(name, {})[f"hop_{hop}"] = spent
            rows[name][f"hop_{hop}_over_floor"] = spent / floors[hop]
    default = "native" if "native" in rows else "torch"
    int8 = rows.pop("onnxruntime_int8", {})
    for hop in _HOPS:
        if int8:
            int8[f"hop_{hop}_difference"] = abs(
                exact[hop]["onnxruntime_int8"] - exact[hop]["torch"]
            )
    features = min(seconds(lambda: front_end(samples), device) for _ in range(5))
    return {
        "machine": describe(device),
        "preset": "paper",
        "clip_seconds": _CLIP_SECONDS,
        "gflop": flops * ((len(front_end(samples)) - config.part(SsdptConfig).frames) + 1) / 1e9,
        "floor": {f"hop_{hop}": floor for hop, floor in floors.items()},
        **rows,
        "int8": int8,
        "default": default,
        "default_over_floor": rows[default]["hop_1_over_floor"],
        # The default needs neither OpenVINO nor ONNX Runtime.
        "default_over_floor_train_alone": rows[default]["hop_1_over_floor"],
        "without_compiler_over_floor": rows["torch"]["hop_1_over_floor"],
        "features_seconds": features,
        "features_over_scoring_hop_8": features / rows[default]["hop_8"],
    }


def untrained_system(config: Config) -> Ssdpt:
    """A system with random weights: its speed does not depend on what it has learned."""
    classes = tuple((f"{number:02d}", "") for number in range(SECTIONS))
    network = build_network(config, SECTIONS).eval()
    # Statistics of a typical log-mel, so that activations have realistic values.
    assert network.input_norm.running_mean is not None
    assert network.input_norm.running_var is not None
    network.input_norm.running_mean.fill_(-30.0)
    network.input_norm.running_var.fill_(40.0)
    return Ssdpt(config, classes, network)


def _scorers(system: Ssdpt, front_end: LogMel, samples: Floats) -> dict[str, ScoreClip]:
    """Every way to score a clip that is installed."""
    published = seeded(lambda: PublishedNetwork(SECTIONS), 0).eval()
    settings = system.config.part(SsdptConfig)

    def eager() -> float:
        frames = torch.from_numpy(front_end(samples))
        total = 0.0
        with torch.inference_mode():
            cut = segments_of_clip(frames, settings.frames, settings.hop)
            for segments in torch.split(cut, _EAGER_BATCH):
                logits, out = published(segments)
                total += float((out - segments).square().mean() + logits.sum())
        return total

    def ours() -> float:
        return system.score([front_end(samples)], system.sections[0]).value

    def without_native() -> float:
        with _environment("SSDPT_NATIVE", "0"):
            return ours()

    scorers: dict[str, ScoreClip] = {"eager": eager, "torch": without_native}
    if is_native():
        scorers["native"] = ours
    return scorers | _exported(system, samples)


def _exported(system: Ssdpt, samples: Floats) -> dict[str, ScoreClip]:
    """The exported graph in the runtimes that are installed."""
    if importlib.util.find_spec("onnxscript") is None:
        return {}
    from ssdpt.runtime.graph import CLIP, onnx_model
    from ssdpt.runtime.variants import int8_weights

    scorers: dict[str, ScoreClip] = {}
    if importlib.util.find_spec("onnxruntime") is not None:
        import onnxruntime

        exact, _ = onnx_model(system, "float64")
        for name, model in (
            ("onnxruntime", exact.SerializeToString()),
            ("onnxruntime_int8", int8_weights(exact).SerializeToString()),
        ):
            session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])

            def run(session: Any = session) -> float:
                (clip,) = session.run([CLIP], {"samples": samples})
                return float(clip[0])

            scorers[name] = run
    if importlib.util.find_spec("openvino") is not None:
        coarse, _ = onnx_model(system, "float32")
        with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(coarse.SerializeToString())
            settings = {"INFERENCE_PRECISION_HINT": "f32"}
            compiled = openvino_core().compile_model(str(path), "CPU", settings)

        def infer() -> float:
            return float(compiled(samples)[CLIP][0])

        scorers["openvino"] = infer
    return scorers


def _best(
    scorers: dict[str, ScoreClip], device: torch.device, budget: float
) -> tuple[dict[str, float], float]:
    """Fastest run of every scorer, and the peak speed of matrix products measured in between."""
    fastest = dict.fromkeys(scorers, float("inf"))
    peak = 0.0
    begun = time.perf_counter()
    while not peak or time.perf_counter() - begun < budget * len(scorers):
        peak = max(peak, matrix_peak(device))
        for name, scorer in scorers.items():
            fastest[name] = min(fastest[name], seconds(scorer, device))
    return fastest, peak


def _on_gpu(device: torch.device) -> dict[str, Any]:
    """Device seconds for 8,400 clips at hop 1, compared with torch's layers in TF32."""
    config = load_config("paper", {"device": device.type})
    system = untrained_system(config)
    system.to(device)
    clips = synthetic_clips(_GPU_AT_ONCE).all()
    clip_frames = [frames for _, frames in clips.clips()]
    frames = torch.from_numpy(clips.source.frames).to(device).view(_GPU_AT_ONCE, -1, 128)
    published = PublishedNetwork(SECTIONS).to(device).eval()

    def reference() -> None:
        with torch.inference_mode():
            for clip in frames:
                segments = segments_of_clip(clip, config.part(SsdptConfig).frames, 1)
                _, out = published(segments)
                (out - segments).square().mean((1, 2))

    def ours() -> None:
        for score_as in system.score_many(clip_frames):
            score_as(system.sections[0])

    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        eager = _device_seconds(reference, device)
    finally:
        torch.set_float32_matmul_precision(precision)
    fused = _device_seconds(ours, device)
    peak = matrix_peak(device)
    share = _GPU_CLIPS / _GPU_AT_ONCE
    flops = system.network.flops() * 250 * _GPU_CLIPS
    return {
        "machine": describe(device),
        "preset": "paper",
        "clips": _GPU_CLIPS,
        "peak_tflops": peak / 1e12,
        "eager": {"device_seconds": eager * share, "tflops": flops / (eager * share) / 1e12},
        "ours": {
            "device_seconds": fused * share,
            "wall_seconds": _wall_seconds(ours, device) * share,
            "tflops": flops / (fused * share) / 1e12,
            "share_of_peak": flops / (fused * share) / peak,
        },
        "ratio": eager / fused,
    }


def _device_seconds(work: Callable[[], None], device: torch.device, repeats: int = 10) -> float:
    """Seconds that the device was busy with one run, without time spent on the host."""
    from torch.profiler import ProfilerActivity, profile

    for _ in range(3):
        work()
    wait(device)
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(repeats):
            work()
        wait(device)
    busy = sum(event.self_device_time_total for event in profiler.key_averages())  # microseconds
    return busy * 1e-6 / repeats


def _wall_seconds(work: Callable[[], None], device: torch.device, repeats: int = 10) -> float:
    def several() -> None:
        for _ in range(repeats):
            work()

    return seconds(several, device) / repeats


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
