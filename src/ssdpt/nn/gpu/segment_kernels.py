"""The steps before and after the blocks in training, as GPU kernels (Triton).

One program handles one segment. Before the blocks: cut it from the array of frames, mix it with its
partner, normalise and mask it. After them: pool, classify, compute losses and their gradients.
Together with `encoder_kernels` they are one whole update of SSDPT's training.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _about(features, offset, start, index, f, F: tl.constexpr):
    """(F,): the first frame of the batch. Sums of squares relative to it keep their precision,
    which would be lost relative to zero: a bin may be at −40 dB and hardly vary."""
    i = tl.load(index)
    row = tl.load(offset + i) + tl.load(start + i)
    return tl.load(features + row * F + f).to(tl.float32)


@triton.jit
def mix_segments(
    features,  # (all frames, F) in dB
    offset,  # (segments,) first frame of the segment's clip
    start,  # (segments,) first frame of the segment within its clip
    frames,  # (segments,) frames of that clip
    index,  # (batch,) the segments of this batch
    partner,  # (batch,) position in the batch of the segment to mix with
    share,  # () λ
    mixed,  # (batch, P, F) float32
    sums,  # (batch, 2, F): of the feature less `_about`, and of its square, over frames
    P: tl.constexpr,
    F: tl.constexpr,
):
    b = tl.program_id(0).to(tl.int64)
    t, f = tl.arange(0, P), tl.arange(0, F)
    i = tl.load(index + b)
    j = tl.load(index + tl.load(partner + b))
    # A clip shorter than a segment is repeated.
    own_row = tl.load(offset + i) + (tl.load(start + i) + t) % tl.load(frames + i)
    other_row = tl.load(offset + j) + (tl.load(start + j) + t) % tl.load(frames + j)
    own = tl.load(features + own_row[:, None] * F + f[None, :]).to(tl.float32)
    other = tl.load(features + other_row[:, None] * F + f[None, :]).to(tl.float32)
    x = other + tl.load(share) * (own - other)
    tl.store(mixed + (b * P + t)[:, None] * F + f[None, :], x)
    x -= _about(features, offset, start, index, f, F)[None, :]
    tl.store(sums + b * 2 * F + f, tl.sum(x, 0))
    tl.store(sums + (b * 2 + 1) * F + f, tl.sum(x * x, 0))


@triton.jit
def batch_statistics(
    features,
    offset,
    start,
    index,
    sums,  # (batch, 2, F)
    mean,  # (F,)
    scale,  # (F,) one over the deviation
    running_mean,
    running_variance,
    batch,
    momentum,
    P: tl.constexpr,
    F: tl.constexpr,
    ROWS: tl.constexpr,
):
    """One program: mean and deviation of every bin over the batch, and the running ones."""
    row, f = tl.arange(0, ROWS), tl.arange(0, F)
    total = tl.zeros((F,), tl.float32)
    squares = tl.zeros((F,), tl.float32)
    for first in range(0, batch, ROWS):
        place = sums + (first + row)[:, None] * (2 * F) + f[None, :]
        there = (first + row < batch)[:, None]
        total += tl.sum(tl.load(place, there, 0.0), 0)
        squares += tl.sum(tl.load(place + F, there, 0.0), 0)
    count = batch * P
    average = total / count
    variance = tl.maximum(squares / count - average * average, 0.0)
    average += _about(features, offset, start, index, f, F)
    tl.store(mean + f, average)
    tl.store(scale + f, 1.0 / tl.sqrt(variance + 1e-5))
    before = tl.load(running_mean + f)
    tl.store(running_mean + f, before + momentum * (average - before))
    before = tl.load(running_variance + f)
    unbiased = variance * count / (count - 1)
    tl.store(running_variance + f, before + momentum * (unbiased - before))


@triton.jit
def _hidden(boxes, b, t, f, BOXES: tl.constexpr, P: tl.constexpr, F: tl.constexpr):
    """(P, F): whether a mask hides the point. A box: first frame, last + 1, first bin, last + 1."""
    hidden = tl.zeros((P, F), tl.int1)
    for box in range(BOXES):
        corner = boxes + (b * BOXES + box) * 4
        inside = (t >= tl.load(corner)) & (t < tl.load(corner + 1))
        between = (f >= tl.load(corner + 2)) & (f < tl.load(corner + 3))
        hidden = hidden | (inside[:, None] & between[None, :])
    return hidden


@triton.jit
def normalise_segments(
    mixed,  # (batch, P, F)
    mean,
    scale,
    gain,
    bias,
    boxes,  # (batch, BOXES, 4)
    x,  # (batch, P, F): the input of the blocks
    P: tl.constexpr,
    F: tl.constexpr,
    BOXES: tl.constexpr,
):
    b = tl.program_id(0).to(tl.int64)
    t, f = tl.arange(0, P), tl.arange(0, F)
    place = (b * P + t)[:, None] * F + f[None, :]
    unit = (tl.load(mixed + place) - tl.load(mean + f)[None, :]) * tl.load(scale + f)[None, :]
    normalised = unit * tl.load(gain + f)[None, :] + tl.load(bias + f)[None, :]
    if BOXES > 0:
        normalised = tl.where(_hidden(boxes, b, t, f, BOXES, P, F), 0.0, normalised)
    tl.store(x + place, normalised.to(x.dtype.element_ty))


@triton.jit
def _logits(classifier_weight, classifier_bias, highest, c, there, f, F: tl.constexpr):
    """Weights (BLOCK, F) and logits (BLOCK,) of some classes `c`; -inf for missing classes."""
    weight = tl.load(classifier_weight + c[:, None] * F + f[None, :], there[:, None], 0.0)
    logits = tl.sum(weight * highest[None, :], 1) + tl.load(classifier_bias + c, there, 0.0)
    return weight, tl.where(there, logits, -float("inf"))


@triton.jit
def _wanted(c, label, other, part):
    """The mixed target of the classes `c`."""
    return tl.where(c == label, part, 0.0) + tl.where(c == other, 1.0 - part, 0.0)


@triton.jit
def segment_losses(
    out,  # (batch, P, F): of the last block
    mixed,
    mean,
    scale,
    gain,
    bias,
    classifier_weight,  # (classes, F)
    classifier_bias,  # (classes,)
    labels,  # (segments,)
    index,
    partner,
    share,
    out_gradient,  # (batch, P, F)
    pooled,  # (batch, F)
    logit_gradient,  # (batch, classes)
    metrics,  # (3, batch): classification loss, reconstruction error, whether the class was right
    batch,
    classes,
    alpha,
    error_scale,  # 1 / (P F) for the mean of squares, 1 for their sum
    gradient_scale,  # factor of the gradient, to avoid underflow in float16
    P: tl.constexpr,
    F: tl.constexpr,
    BLOCK: tl.constexpr,  # classes at a time, a power of two: their weights fit into one program
    STANDARDISED: tl.constexpr,  # whether the target is the normalised feature, or in dB
):
    b = tl.program_id(0).to(tl.int64)
    t, f = tl.arange(0, P), tl.arange(0, F)
    place = (b * P + t)[:, None] * F + f[None, :]
    y = tl.load(out + place).to(tl.float32)
    target = tl.load(mixed + place)
    if STANDARDISED:
        target = (target - tl.load(mean + f)[None, :]) * tl.load(scale + f)[None, :]
        target = target * tl.load(gain + f)[None, :] + tl.load(bias + f)[None, :]
    difference = y - target
    error = tl.sum(tl.sum(difference * difference, 1), 0) * error_scale

    highest = tl.max(y, 0)  # (F,)
    where = tl.argmax(y, 0)
    label = tl.load(labels + tl.load(index + b))
    other = tl.load(labels + tl.load(index + tl.load(partner + b)))
    part = tl.load(share)
    top = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)  # of exp(logit - top)
    agreed = tl.full((), 0.0, tl.float32)
    right = tl.full((), 0.0, tl.float32)
    for first in range(0, classes, BLOCK):
        c = first + tl.arange(0, BLOCK)
        there = c < classes
        weight, logits = _logits(classifier_weight, classifier_bias, highest, c, there, f, F)
        block_top = tl.max(logits, 0)
        is_label = ((first + tl.argmax(logits, 0)) == label).to(tl.float32)
        right = tl.where(block_top > top, is_label, right)
        higher = tl.maximum(top, block_top)
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(logits - higher), 0)
        top = higher
        wanted = _wanted(c, label, other, part)
        agreed += tl.sum(wanted * tl.where(there, logits, 0.0), 0)
    log_total = top + tl.log(total)

    pooled_back = tl.zeros((F,), tl.float32)
    for first in range(0, classes, BLOCK):
        c = first + tl.arange(0, BLOCK)
        there = c < classes
        weight, logits = _logits(classifier_weight, classifier_bias, highest, c, there, f, F)
        wanted = _wanted(c, label, other, part)
        logits_back = (tl.exp(logits - log_total) - wanted) / batch
        pooled_back += tl.sum(weight * logits_back[:, None], 0)
        tl.store(logit_gradient + b * classes + c, logits_back, there)
    back = difference * (2.0 * alpha * error_scale / batch)
    back += tl.where(t[:, None] == where[None, :], pooled_back[None, :], 0.0)
    tl.store(out_gradient + place, (back * gradient_scale).to(out_gradient.dtype.element_ty))
    tl.store(pooled + b * F + f, highest)
    tl.store(metrics + b, log_total - agreed)
    tl.store(metrics + batch + b, error)
    tl.store(metrics + 2 * batch + b, right)


@triton.jit
def input_norm_backward(
    x_gradient,  # (batch, P, F)
    mixed,
    mean,
    scale,
    boxes,
    vector_gradient,  # (batch, 2, F): of gain and bias
    P: tl.constexpr,
    F: tl.constexpr,
    BOXES: tl.constexpr,
):
    b = tl.program_id(0).to(tl.int64)
    t, f = tl.arange(0, P), tl.arange(0, F)
    place = (b * P + t)[:, None] * F + f[None, :]
    gradient = tl.load(x_gradient + place).to(tl.float32)
    if BOXES > 0:
        gradient = tl.where(_hidden(boxes, b, t, f, BOXES, P, F), 0.0, gradient)
    unit = (tl.load(mixed + place) - tl.load(mean + f)[None, :]) * tl.load(scale + f)[None, :]
    tl.store(vector_gradient + b * 2 * F + f, tl.sum(gradient * unit, 0))
    tl.store(vector_gradient + (b * 2 + 1) * F + f, tl.sum(gradient, 0))


@triton.jit
def pool_segments(
    out,  # (segments, P, F): of the last block
    target,  # (all frames, F) float32, of which segment s starts at starts[s]
    starts,
    pooled,  # (segments, F)
    error,  # (segments,): sum of squares
    P: tl.constexpr,
    F: tl.constexpr,
):
    s = tl.program_id(0).to(tl.int64)
    t, f = tl.arange(0, P), tl.arange(0, F)
    y = tl.load(out + (s * P + t)[:, None] * F + f[None, :]).to(tl.float32)
    difference = y - tl.load(target + (tl.load(starts + s) + t)[:, None] * F + f[None, :])
    tl.store(pooled + s * F + f, tl.max(y, 0))
    tl.store(error + s, tl.sum(tl.sum(difference * difference, 1), 0))
