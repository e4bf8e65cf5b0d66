"""The flow chart of the method and the DPT block as SVG, drawn from the configuration.

Every arrow is labelled with the shape of the data.
"""

from __future__ import annotations

import itertools

from ssdpt.config.tree import Config
from ssdpt.experiments.report.diagram import Arrow, Box, Diagram, Note
from ssdpt.systems.ssdpt import SsdptConfig


def flow_chart(config: Config, classes: int = 3) -> Diagram:
    """From a clip to the training loss (left) and to the anomaly score (right)."""
    model, features = config.part(SsdptConfig), config.features
    frames, bins = model.frames, features.n_mels
    samples = round(config.audio.clip_seconds * config.audio.sample_rate)
    whole = 1 + samples // features.hop_length
    segment = f"{frames} × {bins}"

    def segments(hop: int) -> int:
        return max(1, (whole - frames) // hop + 1)

    batch = model.training.batch_size
    left, middle, right = 170.0, 400.0, 630.0
    clip = Box(
        middle,
        30,
        280,
        "Clip of a machine",
        (f"{config.audio.clip_seconds:g} s at {config.audio.sample_rate:,} Hz",),
    )
    log_mel = Box(
        middle,
        120,
        280,
        "Log-mel",
        (f"window {features.n_fft}, hop {features.hop_length}, {bins} bins (F)",),
    )
    training = Box(
        left,
        215,
        270,
        "Segments for training",
        (f"P = {frames} frames, every {model.training.hop}",),
    )
    testing = Box(
        right, 215, 270, "Segments for testing", (f"P = {frames} frames, every {model.hop}",)
    )
    mixup = Box(left, 310, 270, "Mixup", (_mixup_text(config),))
    norm = Box(left, 400, 270, "BatchNorm, then mask", (_mask_text(config),))
    unmasked = Box(right, 400, 270, "BatchNorm", ("no mask",))
    network = Box(
        middle,
        500,
        500,
        f"DPT: M = {model.blocks} {'block' if model.blocks == 1 else 'blocks'}",
        (
            f"each: attention over {frames} frames, then over {bins} bins; "
            f"{model.heads} heads, FFN {model.feed_forward}",
        ),
        "network",
    )
    rebuilt = Box(
        left,
        605,
        270,
        "Reconstruction",
        (f"of the {'dB' if model.target == 'raw' else 'normalised'} feature",),
    )
    identity = Box(right, 605, 270, "Max over frames, linear, softmax", (f"I = {classes} classes",))
    loss = Box(
        left,
        705,
        300,
        "Training: L = L_c + α · L_r",
        (f"cross-entropy + {model.alpha:g} · squared error",),
        "outcome",
    )
    score = Box(
        right,
        705,
        300,
        "Testing: A = A_c + β · A_r",
        (f"{_score_text(config)} + {model.beta:g} · squared error",),
        "outcome",
    )
    arrows = [
        _down(clip, log_mel, f"{samples:,} samples"),
        _branch(log_mel, training, f"{whole} × {bins}", -1),
        _branch(log_mel, testing, f"{whole} × {bins}", 1),
        _down(training, mixup, f"{batch} × {segment}  (a clip has {segments(model.training.hop)})"),
        _down(mixup, norm, f"{batch} × {segment}"),
        _down(testing, unmasked, f"{segments(model.hop)} × {segment}"),
        _down(norm, network, f"{batch} × {segment}"),
        _down(unmasked, network, f"{segments(model.hop)} × {segment}"),
        _down(network, rebuilt, f"B × {segment}", x=left),
        _down(network, identity, f"B × {segment}", x=right),
        _down(rebuilt, loss, f"B × {segment}"),
        _down(identity, score, f"B × {classes}"),
        Arrow(
            (
                (rebuilt.right, rebuilt.y),
                (rebuilt.right + 30, rebuilt.y),
                (score.left, score.y - 8),
            ),
            "A_r",
            (rebuilt.right + 8, rebuilt.y - 7),
        ),
        Arrow(
            (
                (identity.left, identity.y),
                (identity.left - 30, identity.y),
                (loss.right, loss.y - 8),
            ),
            "L_c",
            (identity.left - 8, identity.y - 7),
            "end",
        ),
    ]
    notes = (
        Note(left - 10, 172, "training", "lane", "end"),
        Note(right + 10, 172, "testing", "lane"),
    )
    boxes = (
        *(clip, log_mel, training, testing, mixup, norm, unmasked),
        *(network, rebuilt, identity, loss, score),
    )
    return Diagram("Flow chart of SSDPT", 800, 745, boxes, tuple(arrows), notes)


def dpt_block(config: Config) -> Diagram:
    """One block: an encoder over frames, a transposition, an encoder over bins."""
    model = config.part(SsdptConfig)
    frames, bins = model.frames, config.features.n_mels
    first, over = _encoder(config, 150, "Encoder E_s, over frames", frames, bins)
    second, under = _encoder(config, 470, "Encoder E_f, over bins", bins, frames)
    bottom, top = 446.0, 40.0
    arrows = [
        Arrow(((150, 14), (150, first[0].top)), f"1 × {frames} × {bins}", (158, 30)),
        *over,
        Arrow(
            (
                *((150, first[-1].bottom), (150, bottom), (310, bottom), (310, top - 14)),
                *((470, top - 14), (470, second[0].top)),
            ),
            f"1 × {bins} × {frames}",
            (478, 42),
        ),
        *under,
        Arrow(((470, second[-1].bottom), (470, bottom + 44)), f"1 × {frames} × {bins}", (478, 464)),
    ]
    notes = (
        Note(158, 438, f"1 × {frames} × {bins}"),
        Note(304, 462, "transposed", anchor="end"),
        Note(478, 446, "transposed back"),
        Note(20, 488, f"× M = {model.blocks}, one after the other", "lane"),
    )
    frame = [(18.0, 52.0, 264.0, 366.0), (338.0, 52.0, 264.0, 366.0)]
    return Diagram(
        "Architecture of a DPT block",
        640,
        495,
        (*first, *second),
        tuple(arrows),
        notes,
        tuple(frame),
    )


def _encoder(
    config: Config, x: float, title: str, length: int, embedding: int
) -> tuple[list[Box], list[Arrow]]:
    """Attention and feed-forward network, each with its residual path, in one column."""
    heads, hidden = config.part(SsdptConfig).heads, config.part(SsdptConfig).feed_forward
    shape = f"1 × {length} × {embedding}"
    boxes = [
        Box(x, 84, 240, title, (), ""),
        Box(
            x,
            162,
            210,
            "Self-attention (MHSA)",
            (f"{heads} heads of {embedding // heads}", f"weights {heads} × {length} × {length}"),
            "network",
        ),
        Box(x, 236, 130, "Add, LayerNorm"),
        Box(
            x,
            308,
            210,
            "Feed-forward (FFN)",
            (f"{embedding} → {hidden} → {embedding}, ReLU",),
            "network",
        ),
        Box(x, 382, 130, "Add, LayerNorm"),
    ]
    arrows = [_down(one, other, shape) for one, other in itertools.pairwise(boxes)]
    for before, after in ((boxes[0], boxes[2]), (boxes[2], boxes[4])):
        aside, start = x - 118, before.bottom + 6
        arrows.append(Arrow(((x, start), (aside, start), (aside, after.y), (after.left, after.y))))
    return boxes, arrows


def _mixup_text(config: Config) -> str:
    share = config.part(SsdptConfig).mixup
    return f"λ from Beta({share:g}, {share:g}), once per batch" if share else "switched off"


def _mask_text(config: Config) -> str:
    mask = config.part(SsdptConfig).mask
    stripes = f"{mask.stripes} stripes of {mask.stripe_width}"
    return {
        "none": "no mask (NM)",
        "time": f"{stripes} frames (TM)",
        "frequency": f"{stripes} bins (FM)",
        "specaugment": f"{stripes}, each way (SpecAugment)",
        "patch": f"{mask.patches} squares of {mask.patch_size} × {mask.patch_size} (PM)",
    }[mask.kind]


def _score_text(config: Config) -> str:
    return "log((1−p)/p)" if config.part(SsdptConfig).score == "log-odds" else "log((1−p)−log p)"


def _down(one: Box, other: Box, label: str, x: float | None = None) -> Arrow:
    """Straight down, at the centre of the narrower box."""
    place = x if x is not None else (one.x if one.width < other.width else other.x)
    middle = (one.bottom + other.top) / 2 + 4
    return Arrow(((place, one.bottom), (place, other.top)), label, (place + 8, middle))


def _branch(one: Box, other: Box, label: str, side: int) -> Arrow:
    edge = one.left if side < 0 else one.right
    points = ((edge, one.y), (other.x, one.y), (other.x, other.top))
    anchor = "end" if side < 0 else "start"
    return Arrow(points, label, (edge + side * 10, one.y - 6), anchor)
