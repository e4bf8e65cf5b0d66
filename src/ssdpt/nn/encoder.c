/* One Transformer encoder layer on one thread, forward and backward, in float32.

   A segment passes the whole layer before the next one begins, so that everything stays in a
   core's own cache. The order of every sum is fixed: a segment gives the same numbers in whatever
   batch it comes. Matrices lie row by row. Compiled and checked by native.py. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX512F__)
#define WIDE 16
#define ROWS 8 /* of a matrix product at a time: their sums fill the registers */
#elif defined(__AVX__)
#define WIDE 8
#define ROWS 4
#else
#define WIDE 4
#define ROWS 4
#endif

#define PANEL (2 * WIDE) /* columns of a matrix product at a time */
#define WIDEST_HEAD 16
#define WIDEST_ROW 128
#define LOG2_E 1.44269504f
#define INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 32")

typedef float Lanes __attribute__((vector_size(4 * WIDE), may_alias));
typedef float Loose __attribute__((vector_size(4 * WIDE), aligned(4), may_alias));
typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t WholeLanes __attribute__((vector_size(4 * WIDE)));

#include "attention.c"

typedef struct {
    ptrdiff_t batch, length, embedding, hidden, heads;
    ptrdiff_t x_stride, projected_stride, kept_stride; /* from segment to segment, in floats */
} Shape;

/* Weights are (outputs, inputs) as torch has them; the gradients lie in the same order. */
typedef struct {
    float *projection, *projection_bias, *output, *output_bias, *middle_scale, *middle_shift;
    float *expand, *expand_bias, *contract, *contract_bias, *output_scale, *output_shift;
} Weights;

/* What the forward pass leaves of a segment for the backward pass. */
typedef struct {
    float *projected, *attended, *middle_sum, *middle, *hidden, *output_sum;
} Kept;

static Kept kept_at(const Shape *shape, float *memory)
{
    const ptrdiff_t size = shape->length * shape->embedding;
    return (Kept){memory + 3 * size, memory,            memory + size,
                  memory + 2 * size, memory + 7 * size, memory + 6 * size};
}

/* A matrix product's right side: column j of panel p is at panels[p · step + k · row + j]. */
typedef struct {
    const float *panels;
    ptrdiff_t step, row;
} Right;

/* As it lies in memory, (depth, columns). */
static Right plain(const float *matrix, ptrdiff_t columns)
{
    return (Right){matrix, PANEL, columns};
}

/* Panel after panel, so that a product reads it in one go; `turned`: from (columns, depth). */
static Right packed(float **room, const float *matrix, int depth, int columns, int turned)
{
    float *to = *room;
    for (int first = 0; first < columns; first += PANEL)
        for (int k = 0; k < depth; k++)
            for (int j = first; j < first + PANEL; j++)
                *(*room)++ = turned ? matrix[j * depth + k] : matrix[k * columns + j];
    return (Right){to, (ptrdiff_t)depth * PANEL, PANEL};
}

INLINE void product_rows(float *to, ptrdiff_t to_row, const float *left, ptrdiff_t left_row,
                         ptrdiff_t left_column, const float *panel, ptrdiff_t panel_row, int depth,
                         const float *start, ptrdiff_t start_row, int rows)
{
    Lanes low[ROWS], high[ROWS];
    UNROLLED for (int r = 0; r < rows; r++) {
        low[r] = start ? *(const Loose *)(start + r * start_row) : (Loose){0};
        high[r] = start ? *(const Loose *)(start + r * start_row + WIDE) : (Loose){0};
    }
    for (int k = 0; k < depth; k++) {
        const Lanes a = *(const Loose *)(panel + k * panel_row);
        const Lanes b = *(const Loose *)(panel + k * panel_row + WIDE);
        UNROLLED for (int r = 0; r < rows; r++) {
            const float one = left[r * left_row + k * left_column];
            low[r] += one * a;
            high[r] += one * b;
        }
    }
    UNROLLED for (int r = 0; r < rows; r++) {
        *(Loose *)(to + r * to_row) = low[r];
        *(Loose *)(to + r * to_row + WIDE) = high[r];
    }
}

/* to (rows, columns) = start + left · right; the start is a bias (its row 0), a matrix or none. */
INLINE void product(float *to, int rows, int columns, int depth, const float *left,
                    ptrdiff_t left_row, ptrdiff_t left_column, Right right, const float *start,
                    ptrdiff_t start_row)
{
    for (int j = 0; j < columns; j += PANEL) {
        const float *panel = right.panels + j / PANEL * right.step;
        const float *begin = start ? start + j : NULL;
        int i = 0;
        for (; i + ROWS <= rows; i += ROWS)
            product_rows(to + i * columns + j, columns, left + i * left_row, left_row, left_column,
                         panel, right.row, depth, begin ? begin + i * start_row : NULL, start_row,
                         ROWS);
        for (; i < rows; i++)
            product_rows(to + i * columns + j, columns, left + i * left_row, left_row, left_column,
                         panel, right.row, depth, begin ? begin + i * start_row : NULL, start_row,
                         1);
    }
}

/* to (rows, outputs) = start + x (rows, inputs) · right. */
static void linear(float *to, const float *x, Right right, const float *start, ptrdiff_t start_row,
                   int rows, int inputs, int outputs)
{
    product(to, rows, outputs, inputs, x, inputs, 1, right, start, start_row);
}

/* Add gradientᵀ · x to the weight's gradient (outputs, inputs) and its rows' sum to the bias's. */
static void add_weight_gradient(float *weight, float *bias, const float *gradient, const float *x,
                                int rows, int inputs, int outputs)
{
    product(weight, outputs, inputs, rows, gradient, 1, outputs, plain(x, inputs), weight, inputs);
    for (int row = 0; row < rows; row++)
        for (int j = 0; j < outputs; j++) bias[j] += gradient[row * outputs + j];
}

INLINE float total_of(Lanes lanes)
{
    float numbers[WIDE];
    memcpy(numbers, &lanes, sizeof numbers);
    for (int half = WIDE / 2; half; half /= 2)
        UNROLLED for (int i = 0; i < half; i++) numbers[i] += numbers[i + half];
    return numbers[0];
}

/* A row to zero mean and unit variance; gives 1 / standard deviation. */
INLINE float standardise(Lanes *to, const float *from, int vectors, float epsilon)
{
    Lanes sum = {0}, squares = {0};
    for (int v = 0; v < vectors; v++) {
        to[v] = *(const Loose *)(from + v * WIDE);
        sum += to[v];
    }
    const float mean = total_of(sum) / (vectors * WIDE);
    for (int v = 0; v < vectors; v++) {
        to[v] -= mean;
        squares += to[v] * to[v];
    }
    const float inverse = 1.0f / sqrtf(total_of(squares) / (vectors * WIDE) + epsilon);
    for (int v = 0; v < vectors; v++) to[v] *= inverse;
    return inverse;
}

/* (rows, columns) from rows `from_row` apart to its transpose, with rows `to_row` apart. */
INLINE void transpose(
    float *to, ptrdiff_t to_row, const float *from, ptrdiff_t from_row, int rows, int columns)
{
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) to[j * to_row + i] = from[i * from_row + j];
}

/* sum += x, then LayerNorm of the sum; `turned`: to (embedding, length). */
static void norm_forward(float *sum, const float *x, const float *scale, const float *shift,
                         float *to, int length, int embedding, float epsilon, int turned)
{
    const int vectors = embedding / WIDE;
    Lanes row[WIDEST_ROW / WIDE];
    float tile[WIDE * WIDEST_ROW];
    for (int i = 0; i < length * embedding; i++) sum[i] += x[i];
    for (int first = 0; first < length; first += WIDE) {
        const int here = length - first < WIDE ? length - first : WIDE;
        float *rows = turned ? tile : to + first * embedding;
        for (int i = 0; i < here; i++) {
            standardise(row, sum + (first + i) * embedding, vectors, epsilon);
            const float *standard = (const float *)row;
            for (int e = 0; e < embedding; e++)
                rows[i * embedding + e] = standard[e] * scale[e] + shift[e];
        }
        if (turned) transpose(to + first, length, tile, embedding, here, embedding);
    }
}

/* From the gradient (length, embedding) of a LayerNorm, in place, that of its sum. */
static void norm_backward(float *gradient, const float *sum, const float *scale, float *scale_to,
                          float *shift_to, int length, int embedding, float epsilon)
{
    const int vectors = embedding / WIDE;
    Lanes row[WIDEST_ROW / WIDE];
    for (int i = 0; i < length; i++) {
        Loose *change = (Loose *)(gradient + i * embedding);
        const float inverse = standardise(row, sum + i * embedding, vectors, epsilon);
        Lanes mean = {0}, slope = {0};
        for (int v = 0; v < vectors; v++) {
            *(Loose *)(scale_to + v * WIDE) += change[v] * row[v];
            *(Loose *)(shift_to + v * WIDE) += change[v];
            change[v] *= *(const Loose *)(scale + v * WIDE);
            mean += change[v];
            slope += change[v] * row[v];
        }
        const float level = total_of(mean) / embedding, tilt = total_of(slope) / embedding;
        for (int v = 0; v < vectors; v++)
            change[v] = (change[v] - level - row[v] * tilt) * inverse;
    }
}

static ptrdiff_t weight_count(const Shape *shape)
{
    return 4 * shape->embedding * shape->embedding + 2 * shape->embedding * shape->hidden;
}

/* `x` (batch, length, embedding) to `to` (batch, embedding, length). `projected`, if given, is the
   attention's projection of x, (batch, length, 3 × embedding), whose segments may overlap.
   0 where there is no memory. */
int encoder_forward(const Shape *shape, const Weights *weights, float epsilon, const float *x,
                    const float *projected, float *kept, float *to)
{
    const int length = shape->length, e = shape->embedding, h = shape->hidden;
    const int heads = shape->heads, width = e / heads;
    const ptrdiff_t head = head_room(length, width);
    float *memory = aligned_alloc(64, (4 * (head + weight_count(shape)) + 63) / 64 * 64);
    if (!memory) return 0;
    const Head own = open_head(memory, length, width);
    float *room = memory + head;
    const Right projection = packed(&room, weights->projection, e, 3 * e, 1);
    const Right output = packed(&room, weights->output, e, e, 1);
    const Right expand = packed(&room, weights->expand, e, h, 1);
    const Right contract = packed(&room, weights->contract, h, e, 1);
    for (ptrdiff_t b = 0; b < shape->batch; b++, to += length * e, x += shape->x_stride) {
        const Kept here = kept_at(shape, kept + b * shape->kept_stride);
        const float *given = projected ? projected + b * shape->projected_stride : here.projected;
        if (!projected)
            linear(here.projected, x, projection, weights->projection_bias, 0, length, e, 3 * e);
        attention_forward(&own, given, here.attended, length, width, heads);
        linear(here.middle_sum, here.attended, output, weights->output_bias, 0, length, e, e);
        norm_forward(here.middle_sum, x, weights->middle_scale, weights->middle_shift, here.middle,
                     length, e, epsilon, 0);
        linear(here.hidden, here.middle, expand, weights->expand_bias, 0, length, e, h);
        for (int i = 0; i < length * h; i++)
            here.hidden[i] = here.hidden[i] < 0 ? 0 : here.hidden[i]; /* NaN stays */
        linear(here.output_sum, here.hidden, contract, weights->contract_bias, 0, length, h, e);
        norm_forward(here.output_sum, here.middle, weights->output_scale, weights->output_shift, to,
                     length, e, epsilon, 1);
    }
    free(memory);
    return 1;
}

/* From the gradient (batch, embedding, length) of the output those of x (batch, length, embedding)
   and, in `results`, of the weights. */
int encoder_backward(const Shape *shape, const Weights *weights, float epsilon, const float *x,
                     float *kept, const float *gradient, float *to, const Weights *results)
{
    const int length = shape->length, e = shape->embedding, h = shape->hidden;
    const int heads = shape->heads, width = e / heads;
    const ptrdiff_t head = head_room(length, width), size = (ptrdiff_t)length * e;
    const ptrdiff_t floats = head + weight_count(shape) + 6 * size + length * h;
    float *memory = aligned_alloc(64, (4 * floats + 63) / 64 * 64);
    if (!memory) return 0;
    const Head own = open_head(memory, length, width);
    float *above = memory + head, *middle = above + size, *attended = middle + size;
    float *projected = attended + size, *hidden = projected + 3 * size, *room = hidden + length * h;
    const Right projection = packed(&room, weights->projection, 3 * e, e, 0);
    const Right output = packed(&room, weights->output, e, e, 0);
    const Right expand = packed(&room, weights->expand, h, e, 0);
    const Right contract = packed(&room, weights->contract, e, h, 0);
    for (ptrdiff_t b = 0; b < shape->batch; b++, x += shape->x_stride) {
        const Kept here = kept_at(shape, kept + b * shape->kept_stride);
        for (int first = 0; first < length; first += WIDE)
            transpose(above + first * e, e, gradient + b * size + first, length, e,
                      length - first < WIDE ? length - first : WIDE);
        norm_backward(above, here.output_sum, weights->output_scale, results->output_scale,
                      results->output_shift, length, e, epsilon);
        linear(hidden, above, contract, NULL, 0, length, e, h);
        for (int i = 0; i < length * h; i++) hidden[i] = here.hidden[i] <= 0 ? 0 : hidden[i];
        add_weight_gradient(results->contract, results->contract_bias, above, here.hidden, length,
                            h, e);
        linear(middle, hidden, expand, above, e, length, h, e);
        add_weight_gradient(results->expand, results->expand_bias, hidden, here.middle, length, e,
                            h);
        norm_backward(middle, here.middle_sum, weights->middle_scale, results->middle_scale,
                      results->middle_shift, length, e, epsilon);
        linear(attended, middle, output, NULL, 0, length, e, e);
        add_weight_gradient(results->output, results->output_bias, middle, here.attended, length,
                            e, e);
        attention_backward(&own, here.projected, attended, projected, length, width, heads);
        linear(to + b * size, projected, projection, middle, e, length, 3 * e, e);
        add_weight_gradient(results->projection, results->projection_bias, projected, x, length, e,
                            3 * e);
    }
    free(memory);
    return 1;
}
