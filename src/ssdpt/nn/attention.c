/* Multi-head softmax attention over a short sequence, forward and backward, in float32.

   Libraries tune attention for long sequences and wide heads. Here a head is 8 or 16 wide and a
   sequence about 100 long: all scores of some queries fit into the first-level cache. One lane of
   a vector is one query, so that maximum, sum and softmax need no step across lanes. */

typedef struct {
    float *queries, *keys, *values, *gradient, *key_gradient, *value_gradient; /* (length, width) */
    Lanes *weight, *change; /* (length,), of the WIDE queries at hand */
} Head;

/* What `open_head` takes of memory, in floats. Rows after the sequence fill a vector with zeros. */
static ptrdiff_t head_room(ptrdiff_t length, ptrdiff_t width)
{
    const ptrdiff_t rows = (length + WIDE - 1) / WIDE * WIDE;
    return 6 * rows * width + 2 * rows * WIDE;
}

static Head open_head(float *memory, ptrdiff_t length, ptrdiff_t width)
{
    const ptrdiff_t rows = (length + WIDE - 1) / WIDE * WIDE, matrix = rows * width;
    memset(memory, 0, 4 * head_room(length, width));
    Lanes *lanes = (Lanes *)memory;
    float *first = memory + 2 * rows * WIDE;
    return (Head){first,
                  first + matrix,
                  first + 2 * matrix,
                  first + 3 * matrix,
                  first + 4 * matrix,
                  first + 5 * matrix,
                  lanes,
                  lanes + rows};
}

INLINE Lanes larger(Lanes a, Lanes b)
{
    Lanes result;
    for (int i = 0; i < WIDE; i++) result[i] = a[i] > b[i] ? a[i] : b[i];
    return result;
}

/* 2^x for x ≤ 0, to a relative error under 2e-7; NaN stays NaN, and under −126 it is 2^−126. */
INLINE Lanes power_of_two(Lanes x)
{
    /* Adding this number rounds x to a whole one, with the exponent's bits of 2^x at the end. */
    const float rounder = 12582912.0f + 127.0f;
    x = larger((Lanes){0} - 126.0f, x);
    Lanes rounded = x + rounder;
    Lanes rest = x - (rounded - rounder); /* −0.5 to 0.5 */
    Lanes scale = (Lanes)((WholeLanes)rounded << 23);
    Lanes y = rest * 1.3264727e-3f + 9.6715130e-3f; /* minimax polynomial of 2^rest */
    y = y * rest + 5.5507336e-2f;
    y = y * rest + 2.4022242e-1f;
    y = y * rest + 6.9314700e-1f;
    y = y * rest + 1.0f;
    return y * scale;
}

INLINE void copy(float *to, ptrdiff_t to_stride, const float *from, ptrdiff_t from_stride,
                 int rows, int width)
{
    for (int row = 0; row < rows; row++)
        for (int d = 0; d < width; d++) to[row * to_stride + d] = from[row * from_stride + d];
}

/* WIDE rows to a vector for each column, and back. */
INLINE void to_lanes(Lanes *to, const float *from, int width, float scale)
{
    for (int d = 0; d < width; d++)
        for (int i = 0; i < WIDE; i++) to[d][i] = from[i * width + d] * scale;
}

INLINE void to_rows(
    float *to, ptrdiff_t stride, const Lanes *from, int rows, int width, Lanes scale)
{
    for (int i = 0; i < rows; i++)
        for (int d = 0; d < width; d++) to[i * stride + d] = from[d][i] * scale[i];
}

INLINE Lanes dot(const Lanes *lanes, const float *row, int width)
{
    Lanes sum = lanes[0] * row[0];
    UNROLLED for (int d = 1; d < width; d++) sum += lanes[d] * row[d];
    return sum;
}

INLINE void add_scaled(Lanes *sums, Lanes lanes, const float *row, int width)
{
    UNROLLED for (int d = 0; d < width; d++) sums[d] += lanes * row[d];
}

/* sums[j] += Σ_i factor[j][i] · rows[i], the sum over the WIDE queries at hand. */
INLINE void add_over_lanes(
    float *sums, const Lanes *factor, const float *rows, int length, int width)
{
    for (int part = 0; part < width; part += 8) {
        Eight row[WIDE];
        UNROLLED for (int i = 0; i < WIDE; i++) row[i] = *(const Eight *)(rows + i * width + part);
        for (int j = 0; j < length; j++) {
            const float *one = (const float *)(factor + j);
            Eight *sum = (Eight *)(sums + j * width + part), even = *sum, odd = {0};
            UNROLLED for (int i = 0; i < WIDE; i += 2) {
                even += one[i] * row[i];
                odd += one[i + 1] * row[i + 1];
            }
            *sum = even + odd;
        }
    }
}

/* Scores of WIDE queries against all keys, in powers of two; gives their maximum. */
INLINE Lanes all_scores(const Lanes *query, const Head *own, int length, int width)
{
    Lanes top = (Lanes){0} - INFINITY;
    for (int j = 0; j < length; j++) {
        Lanes score = dot(query, own->keys + j * width, width);
        own->weight[j] = score;
        top = larger(score, top);
    }
    return top;
}

/* A row of `projected` holds the queries of all heads, then their keys, then their values. */
INLINE void gather_head(const Head *own, const float *projected, int length, int width, int heads)
{
    const ptrdiff_t embedding = heads * width, row = 3 * embedding;
    copy(own->queries, width, projected, row, length, width);
    copy(own->keys, width, projected + embedding, row, length, width);
    copy(own->values, width, projected + 2 * embedding, row, length, width);
}

INLINE void head_forward(
    const Head *own, const float *projected, float *attended, int length, int width, int heads)
{
    const ptrdiff_t embedding = heads * width;
    gather_head(own, projected, length, width, heads);
    for (int first = 0; first < length; first += WIDE) {
        const int here = length - first < WIDE ? length - first : WIDE;
        Lanes query[WIDEST_HEAD], sums[WIDEST_HEAD], total = {0};
        to_lanes(query, own->queries + first * width, width, LOG2_E / sqrtf(width));
        UNROLLED for (int d = 0; d < width; d++) sums[d] = (Lanes){0};
        Lanes top = all_scores(query, own, length, width);
        for (int j = 0; j < length; j++) {
            Lanes weight = power_of_two(own->weight[j] - top);
            total += weight;
            add_scaled(sums, weight, own->values + j * width, width);
        }
        to_rows(attended + first * embedding, embedding, sums, here, width, 1.0f / total);
    }
}

/* With p = softmax(s): ds = p · (dp − Σ p · dp); everything else is a product of matrices. */
INLINE void head_backward(const Head *own, const float *projected, const float *gradient,
                          float *result, int length, int width, int heads)
{
    const ptrdiff_t embedding = heads * width, row = 3 * embedding;
    const float scale = 1.0f / sqrtf(width);
    gather_head(own, projected, length, width, heads);
    copy(own->gradient, width, gradient, embedding, length, width);
    memset(own->key_gradient, 0, 4 * (size_t)length * width);
    memset(own->value_gradient, 0, 4 * (size_t)length * width);
    for (int first = 0; first < length; first += WIDE) {
        const int here = length - first < WIDE ? length - first : WIDE;
        const float *queries = own->queries + first * width, *from = own->gradient + first * width;
        Lanes query[WIDEST_HEAD], output[WIDEST_HEAD], sums[WIDEST_HEAD], total = {0}, mean = {0};
        to_lanes(query, queries, width, LOG2_E * scale);
        to_lanes(output, from, width, 1.0f);
        UNROLLED for (int d = 0; d < width; d++) sums[d] = (Lanes){0};
        Lanes top = all_scores(query, own, length, width);
        for (int j = 0; j < length; j++) {
            Lanes weight = power_of_two(own->weight[j] - top);
            Lanes change = dot(output, own->values + j * width, width); /* dp */
            total += weight;
            mean += weight * change;
            own->weight[j] = weight;
            own->change[j] = change;
        }
        const Lanes share = 1.0f / total;
        mean *= share;
        for (int j = 0; j < length; j++) {
            Lanes weight = own->weight[j] * share;
            Lanes change = weight * (own->change[j] - mean); /* ds */
            add_scaled(sums, change, own->keys + j * width, width);
            own->weight[j] = weight;
            own->change[j] = change * scale;
        }
        to_rows(result + first * row, row, sums, here, width, (Lanes){0} + scale);
        add_over_lanes(own->key_gradient, own->change, queries, length, width);
        add_over_lanes(own->value_gradient, own->weight, from, length, width);
    }
    copy(result + embedding, row, own->key_gradient, width, length, width);
    copy(result + 2 * embedding, row, own->value_gradient, width, length, width);
}

/* `projected` (length, 3 × heads × width) to `attended` (length, heads × width). */
static void attention_forward(
    const Head *own, const float *projected, float *attended, int length, int width, int heads)
{
    for (int h = 0; h < heads; h++, projected += width, attended += width)
        if (width == 8) head_forward(own, projected, attended, length, 8, heads);
        else head_forward(own, projected, attended, length, 16, heads);
}

/* From the gradient of `attended` that of `projected`, which is `result`. */
static void attention_backward(const Head *own, const float *projected, const float *gradient,
                               float *result, int length, int width, int heads)
{
    for (int h = 0; h < heads; h++, projected += width, gradient += width, result += width)
        if (width == 8) head_backward(own, projected, gradient, result, length, 8, heads);
        else head_backward(own, projected, gradient, result, length, 16, heads);
}
