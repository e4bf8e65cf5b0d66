"""The encoder of the dual-path Transformer as GPU kernels, forward and backward (Triton).

There are two kernels per direction. The attention kernel handles one segment and some heads:
projections, scores, softmax and attended values never leave the chip. The feed kernel handles some
positions of a segment: output projection, both residuals and normalisations, and the feed-forward
layer. It transposes the segment: an input (L, E) becomes (E, L), the input of the next encoder.

The backward kernels recompute what the forward kernels did not keep, compute the gradients of
activations and of all vectors (biases, normalisations), and store the operands of the weight
gradients, which are matrix products over the whole batch.

Matrix products have operands of the activations' type (float16) and accumulate in float32;
everything else is float32. Shapes: L positions, E channels, H heads of D channels (padded with
zeros to D_PAD ≥ 16, as matrix products require), W hidden channels, ROWS positions at a time.
"""

from __future__ import annotations

import triton
import triton.language as tl

_LOG2_E = tl.constexpr(1.4426950408889634)  # the GPU has an instruction for powers of two only


@triton.jit
def _dot(a, b, kind: tl.constexpr):
    """a @ b with operands of `kind`, in float32; float32 operands are not rounded."""
    return tl.dot(a.to(kind), b.to(kind), input_precision="ieee")


@triton.jit
def _normalise(x, width: tl.constexpr):
    """Rows of x less their mean, over their deviation; and one over the deviation."""
    centred = x - (tl.sum(x, 1) / width)[:, None]
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 1) / width + 1e-5)
    return centred * scale[:, None], scale


@triton.jit
def _normalise_backward(gradient, normalised, scale, width: tl.constexpr):
    """The gradient before a normalisation from the one after it (without gain and bias)."""
    mean = tl.sum(gradient, 1) / width
    along = tl.sum(gradient * normalised, 1) / width
    return (gradient - mean[:, None] - normalised * along[:, None]) * scale[:, None]


@triton.jit
def _first_row(starts, b, L: tl.constexpr, GATHERED: tl.constexpr):
    """Row of the input where segment b begins, in a batch or in the frames of a clip."""
    row = b * L
    if GATHERED:
        row = tl.load(starts + b).to(tl.int64)
    return row


# The vectors of an encoder are stored in sequence, `vectors` points to the first: bias of the
# projections (3 E), bias of the output (E), gain and bias of the middle normalisation (E, E), bias
# of the hidden layer (W), bias of the contraction (E), gain and bias of the last normalisation.
@triton.jit
def _vector(vectors, first: tl.constexpr, place):
    return tl.load(vectors + first + place)[None, :]


@triton.jit
def attention_forward(
    x_pointer,  # (batch, L, E), or frames (all frames, E) of which segment b starts at starts[b]
    starts,
    attended_pointer,  # (batch, L, E)
    projected_pointer,  # (batch, L, 3 E): kept for the backward pass
    level_pointer,  # (batch, H, L): log2 Σ exp of every row of scores, also kept
    qkv_weight,  # (3 E, E)
    vectors,
    L: tl.constexpr,
    E: tl.constexpr,
    H: tl.constexpr,
    D: tl.constexpr,
    D_PAD: tl.constexpr,
    ROWS: tl.constexpr,
    HEADS: tl.constexpr,  # of one program
    GATHERED: tl.constexpr,
    KEEP: tl.constexpr,
):
    kind: tl.constexpr = x_pointer.dtype.element_ty
    b = tl.program_id(0).to(tl.int64)
    row, channel, d = tl.arange(0, L), tl.arange(0, E), tl.arange(0, D_PAD)
    first = _first_row(starts, b, L, GATHERED)
    x = tl.load(x_pointer + (first + row)[:, None] * E + channel[None, :])  # (L, E)
    real = d < D
    scale = _LOG2_E / tl.sqrt(D * 1.0)
    for head in range(tl.program_id(1) * HEADS, (tl.program_id(1) + 1) * HEADS):
        own = head * D + d
        weight = qkv_weight + own[None, :] * E + channel[:, None]  # (E, D_PAD), transposed
        bias = vectors + own
        key = _dot(x, tl.load(weight + E * E, real[None, :], 0.0), kind)
        key = (key + tl.load(bias + E, real, 0.0)[None, :]).to(kind)
        value = _dot(x, tl.load(weight + 2 * E * E, real[None, :], 0.0), kind)
        value = (value + tl.load(bias + 2 * E, real, 0.0)[None, :]).to(kind)
        query_weight = tl.load(weight, real[None, :], 0.0)
        query_bias = tl.load(bias, real, 0.0)[None, :]
        if KEEP:
            kept = projected_pointer + (b * L + row)[:, None] * (3 * E) + own[None, :]
            tl.store(kept + E, key, real[None, :])
            tl.store(kept + 2 * E, value, real[None, :])
        for block in tl.static_range(0, L, ROWS):
            part = block + tl.arange(0, ROWS)
            x_part = tl.load(x_pointer + (first + part)[:, None] * E + channel[None, :])
            query = (_dot(x_part, query_weight, kind) + query_bias).to(kind)
            score = _dot(query, tl.trans(key), kind) * scale  # (ROWS, L)
            highest = tl.max(score, 1)
            score = tl.exp2(score - highest[:, None])
            total = tl.sum(score, 1)
            attended = _dot(score, value, kind) / total[:, None]  # (ROWS, D_PAD)
            place = attended_pointer + (b * L + part)[:, None] * E + own[None, :]
            tl.store(place, attended.to(kind), real[None, :])
            if KEEP:
                kept = projected_pointer + (b * L + part)[:, None] * (3 * E) + own[None, :]
                tl.store(kept, query, real[None, :])
                tl.store(level_pointer + (b * H + head) * L + part, highest + tl.log2(total))


@triton.jit
def feed_forward(
    x_pointer,
    starts,
    attended_pointer,
    out_pointer,  # (batch, E, L)
    middle_unit_pointer,  # (batch, L, E): normalised, without gain and bias; kept
    hidden_pointer,  # (batch, L, W): kept
    out_unit_pointer,  # (batch, L, E): kept
    scale_pointer,  # (batch, L, 2) float32: of both normalisations, kept
    output_weight,  # (E, E)
    expand_weight,  # (W, E)
    contract_weight,  # (E, W)
    vectors,
    L: tl.constexpr,
    E: tl.constexpr,
    W: tl.constexpr,
    ROWS: tl.constexpr,
    GATHERED: tl.constexpr,
    KEEP: tl.constexpr,
):
    kind: tl.constexpr = x_pointer.dtype.element_ty
    b = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    channel, w = tl.arange(0, E), tl.arange(0, W)
    first = _first_row(starts, b, L, GATHERED)
    x = tl.load(x_pointer + (first + row)[:, None] * E + channel[None, :])
    tile = (b * L + row)[:, None] * E + channel[None, :]  # (ROWS, E) of any (batch, L, E)
    attended = tl.load(attended_pointer + tile)
    output = tl.load(output_weight + channel[None, :] * E + channel[:, None])  # (E, E), transposed
    added = _dot(attended, output, kind) + _vector(vectors, 3 * E, channel) + x
    middle_unit, middle_scale = _normalise(added, E)
    middle = middle_unit * _vector(vectors, 4 * E, channel) + _vector(vectors, 5 * E, channel)
    hidden = _dot(middle, tl.load(expand_weight + w[None, :] * E + channel[:, None]), kind)
    hidden = tl.maximum(hidden + _vector(vectors, 6 * E, w), 0.0)  # (ROWS, W)
    fed = _dot(hidden, tl.load(contract_weight + channel[None, :] * W + w[:, None]), kind)
    out_unit, out_scale = _normalise(fed + _vector(vectors, 6 * E + W, channel) + middle, E)
    out = out_unit * _vector(vectors, 7 * E + W, channel) + _vector(vectors, 8 * E + W, channel)
    turned = out_pointer + b * L * E + channel[None, :] * L + row[:, None]
    tl.store(turned, out.to(kind))
    if KEEP:
        tl.store(middle_unit_pointer + tile, middle_unit.to(kind))
        tl.store(out_unit_pointer + tile, out_unit.to(kind))
        tl.store(hidden_pointer + (b * L + row)[:, None] * W + w[None, :], hidden.to(kind))
        tl.store(scale_pointer + (b * L + row) * 2, middle_scale)
        tl.store(scale_pointer + (b * L + row) * 2 + 1, out_scale)


@triton.jit
def feed_backward(
    middle_unit_pointer,  # (batch, L, E)
    hidden_pointer,  # (batch, L, W)
    out_unit_pointer,  # (batch, L, E)
    scale_pointer,  # (batch, L, 2)
    out_gradient_pointer,  # (batch, E, L)
    added_gradient_pointer,  # (batch, L, E): of attention's output and residual
    residual_gradient_pointer,  # (batch, L, E): a second copy, to which more is added
    attended_gradient_pointer,  # (batch, L, E): of the attended values
    middle_pointer,  # (batch, L, E)
    hidden_gradient_pointer,  # (batch, L, W): before the ReLU
    fed_gradient_pointer,  # (batch, L, E): of the feed-forward layer's output
    norm_gradient_pointer,  # (batch, L / ROWS, 4, E) float32: of gains and biases, middle and last
    output_weight,
    expand_weight,
    contract_weight,
    vectors,
    L: tl.constexpr,
    E: tl.constexpr,
    W: tl.constexpr,
    ROWS: tl.constexpr,
):
    kind: tl.constexpr = middle_unit_pointer.dtype.element_ty
    b = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    channel, w = tl.arange(0, E), tl.arange(0, W)
    tile = (b * L + row)[:, None] * E + channel[None, :]
    narrow = (b * L + row)[:, None] * W + w[None, :]
    sums = norm_gradient_pointer + (b * (L // ROWS) + tl.program_id(1)) * 4 * E + channel

    # Back through the last normalisation.
    turned = out_gradient_pointer + b * L * E + channel[None, :] * L + row[:, None]
    gradient = tl.load(turned).to(tl.float32)
    unit = tl.load(out_unit_pointer + tile).to(tl.float32)
    tl.store(sums + 2 * E, tl.sum(gradient * unit, 0))
    tl.store(sums + 3 * E, tl.sum(gradient, 0))
    gradient *= _vector(vectors, 7 * E + W, channel)
    scale = tl.load(scale_pointer + (b * L + row) * 2 + 1)
    gradient = _normalise_backward(gradient, unit, scale, E)
    tl.store(fed_gradient_pointer + tile, gradient.to(kind))

    # The feed-forward layer.
    contract = contract_weight + channel[:, None] * W + w[None, :]  # (E, W)
    hidden_gradient = _dot(gradient, tl.load(contract), kind)
    hidden_gradient = tl.where(tl.load(hidden_pointer + narrow) > 0.0, hidden_gradient, 0.0)
    tl.store(hidden_gradient_pointer + narrow, hidden_gradient.to(kind))
    expand = expand_weight + w[:, None] * E + channel[None, :]  # (W, E)
    gradient += _dot(hidden_gradient, tl.load(expand), kind)

    # The middle normalisation, and the gradient of the attention's output.
    unit = tl.load(middle_unit_pointer + tile).to(tl.float32)
    tl.store(sums, tl.sum(gradient * unit, 0))
    tl.store(sums + E, tl.sum(gradient, 0))
    gain = _vector(vectors, 4 * E, channel)
    middle = unit * gain + _vector(vectors, 5 * E, channel)
    tl.store(middle_pointer + tile, middle.to(kind))
    scale = tl.load(scale_pointer + (b * L + row) * 2)
    gradient = _normalise_backward(gradient * gain, unit, scale, E)
    tl.store(added_gradient_pointer + tile, gradient.to(kind))
    tl.store(residual_gradient_pointer + tile, gradient.to(kind))
    output = tl.load(output_weight + channel[:, None] * E + channel[None, :])  # (E, E)
    tl.store(attended_gradient_pointer + tile, _dot(gradient, output, kind).to(kind))


@triton.jit
def attention_backward(
    projected_pointer,  # (batch, L, 3 E)
    attended_pointer,  # (batch, L, E)
    level_pointer,  # (batch, H, L)
    attended_gradient_pointer,  # (batch, L, E)
    projected_gradient_pointer,  # (batch, L, 3 E)
    L: tl.constexpr,
    E: tl.constexpr,
    H: tl.constexpr,
    D: tl.constexpr,
    D_PAD: tl.constexpr,
    ROWS: tl.constexpr,
    HEADS: tl.constexpr,
):
    kind: tl.constexpr = projected_pointer.dtype.element_ty
    b = tl.program_id(0).to(tl.int64)
    row, d = tl.arange(0, L), tl.arange(0, D_PAD)
    real = d < D
    scale = 1.0 / tl.sqrt(D * 1.0)
    for head in range(tl.program_id(1) * HEADS, (tl.program_id(1) + 1) * HEADS):
        own = head * D + d
        kept = (b * L + row)[:, None] * (3 * E) + own[None, :]
        key = tl.load(projected_pointer + kept + E, real[None, :], 0.0)
        value = tl.load(projected_pointer + kept + 2 * E, real[None, :], 0.0)
        key_gradient = tl.zeros((L, D_PAD), tl.float32)
        value_gradient = tl.zeros((L, D_PAD), tl.float32)
        for block in tl.static_range(0, L, ROWS):
            part = block + tl.arange(0, ROWS)
            wide = (b * L + part)[:, None] * E + own[None, :]
            outer = tl.load(attended_gradient_pointer + wide, real[None, :], 0.0)
            attended = tl.load(attended_pointer + wide, real[None, :], 0.0)
            # Σ weight · its gradient, of every row
            mean = tl.sum(outer.to(tl.float32) * attended.to(tl.float32), 1)
            query_place = (b * L + part)[:, None] * (3 * E) + own[None, :]
            query = tl.load(projected_pointer + query_place, real[None, :], 0.0)
            level = tl.load(level_pointer + (b * H + head) * L + part)
            # Keys × queries, so that only one matrix has to be transposed.
            weight = _dot(key, tl.trans(query), kind) * (scale * _LOG2_E) - level[None, :]
            weight = tl.exp2(weight)  # (L, ROWS)
            value_gradient += _dot(weight, outer, kind)
            weight_gradient = _dot(value, tl.trans(outer), kind)
            score_gradient = (weight * (weight_gradient - mean[None, :]) * scale).to(kind)
            key_gradient += _dot(score_gradient, query, kind)
            query_gradient = _dot(tl.trans(score_gradient), key, kind)
            tl.store(
                projected_gradient_pointer + query_place, query_gradient.to(kind), real[None, :]
            )
        tl.store(projected_gradient_pointer + kept + E, key_gradient.to(kind), real[None, :])
        tl.store(projected_gradient_pointer + kept + 2 * E, value_gradient.to(kind), real[None, :])


@triton.jit
def weight_gradient(
    after_pointer,  # (rows, OUT): gradient of the output of a linear layer
    before_pointer,  # (rows, IN): its input
    parts_pointer,  # (parts, size): partial sums of the gradients of all parameters
    size,
    weight_place,  # offset of the layer's weight (OUT, IN) in a part
    bias_place,  # offset of its bias (OUT,)
    rows,
    OUT: tl.constexpr,
    IN: tl.constexpr,
    TILE_OUT: tl.constexpr,
    TILE_IN: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """One part of Σ afterᵀ before and Σ after over the rows, for one tile of the weight."""
    kind: tl.constexpr = after_pointer.dtype.element_ty
    tile, part, parts = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    out = (tile // (IN // TILE_IN)) * TILE_OUT + tl.arange(0, TILE_OUT)
    within = (tile % (IN // TILE_IN)) * TILE_IN + tl.arange(0, TILE_IN)
    weight = tl.zeros((TILE_OUT, TILE_IN), tl.float32)
    bias = tl.zeros((TILE_OUT,), tl.float32)
    for first in range(part * CHUNK, rows, parts * CHUNK):
        row = first + tl.arange(0, CHUNK)
        there = (row < rows)[:, None]
        after = tl.load(after_pointer + row[:, None] * OUT + out[None, :], there, 0.0)
        before = tl.load(before_pointer + row[:, None] * IN + within[None, :], there, 0.0)
        weight += _dot(tl.trans(after), before, kind)
        bias += tl.sum(after.to(tl.float32), 0)
    own = parts_pointer + part.to(tl.int64) * size
    tl.store(own + weight_place + out[:, None] * IN + within[None, :], weight)
    if tile % (IN // TILE_IN) == 0:
        tl.store(own + bias_place + out, bias)


@triton.jit
def add_columns(
    matrix,  # (rows, columns), a row every `stride`
    target,  # (columns,)
    rows,
    stride,
    columns,
    factor,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Add the sums over a matrix's rows times a factor to a vector; some columns per program."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    there = column < columns
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, rows, ROWS):
        row = first + tl.arange(0, ROWS)
        place = row.to(tl.int64)[:, None] * stride + column[None, :]
        total += tl.load(matrix + place, (row < rows)[:, None] & there[None, :], 0.0)
    sums = tl.load(target + column, there, 0.0) + tl.sum(total, 0) * factor
    tl.store(target + column, sums, there)
