/* Values: what ALUs compute in all lanes at once (simt/mask/values.py). */

static inline float as_float(uint32_t word) { float f; memcpy(&f, &word, 4); return f; }
static inline uint32_t as_word(float f) { uint32_t w; memcpy(&w, &f, 4); return f != f ? (uint32_t)NAN_BITS : w; }
static inline float clamp(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

#define EACH(expression) for (int64_t l = 0; l < width; l++) { out[l] = (expression); } break
#define A as_float(a[l])
#define B as_float(b[l])
#define C as_float(c[l])

static inline __attribute__((always_inline)) void map(int op, int64_t width, uint32_t *restrict out, const uint32_t *restrict a, const uint32_t *restrict b,
                const uint32_t *restrict c)
{
    switch (op) {
    case MOV: EACH(a[l]);
    case UTOF: EACH(as_word((float)a[l]));
    case ADD_F32: EACH(as_word(A + B));
    case SUB_F32: EACH(as_word(A - B));
    case MUL_F32: EACH(as_word(A * B));
    case MAD_F32: EACH(as_word(A * B + C));
    case LERP: EACH(as_word(A * (1.0f - C) + B * C));
    case DIV_F32: EACH(as_word(B == 0.0f ? 1e23f : A / B));
    case ABS_F32: EACH(a[l] & 0x7fffffffu);
    case CLAMP: EACH(as_word(clamp(A)));
    case ADD_U32: EACH(a[l] + b[l]);
    case SUB_U32: EACH(a[l] - b[l]);
    case MUL_U32: EACH(a[l] * b[l]);
    case MAD_U32: EACH(a[l] * b[l] + c[l]);
    /* in double, which vectors divide: a / b is less than its next integer by 1 / b at least, more than it is rounded */
    case DIV_U32: EACH(b[l] ? (uint32_t)(int64_t)((double)a[l] / (double)(b[l] + !b[l])) : 0xffffffffu);
    case AND: EACH(a[l] & b[l]);
    case OR: EACH(a[l] | b[l]);
    case LT_F32: EACH(A < B);
    case GT_F32: EACH(A > B);
    case LT_U32: EACH(a[l] < b[l]);
    case GT_U32: EACH(a[l] > b[l]);
    }
}

static void lengths(int64_t width, int count, const uint32_t *const *rows, float *out)
{
    for (int64_t l = 0; l < width; l++) out[l] = as_float(rows[0][l]) * as_float(rows[0][l]);
    for (int n = 1; n < count; n++)
        for (int64_t l = 0; l < width; l++) out[l] = out[l] + as_float(rows[n][l]) * as_float(rows[n][l]);
    for (int64_t l = 0; l < width; l++) out[l] = sqrtf(out[l]);
}

static void fill(uint32_t *row, int64_t width, uint32_t word)
{
    for (int64_t l = 0; l < width; l++) row[l] = word;
}

/* Find the rows of a source: `rows[n]` is its component n. */
static void find_source(struct machine *m, struct slot *s, const struct instruction *i, int at, const uint32_t **rows)
{
    int64_t width = WIDTH(m);
    const struct source_of *source = &i->source[at];
    uint32_t *row = m->rows_of_builtins + at * width;
    switch (source->kind) {
    case REGISTER:
        for (int n = 0; n < source->count; n++)
            rows[n] = s->registers + (source->number * 4 + source->components[n]) * width;
        return;
    case CONSTANT:
        for (int n = 0; n < source->count; n++) rows[n] = m->constants + (((i - m->program) * 3 + at) * 4 + n) * width;
        return;
    case THREAD_ID: rows[0] = s->threads; return;
    case LANE_ID: rows[0] = s->lane_ids; return;
    case WAVE_ID: rows[0] = s->wave_ids; return;
    case CLOCK: fill(row, width, (uint32_t)m->now); break;
    }
    rows[0] = row;
}

static void write_row(struct machine *m, struct slot *s, const struct instruction *i, int n, const uint32_t *row)
{
    int64_t width = WIDTH(m);
    uint32_t *restrict to = s->registers + (i->destination * 4 + i->components[n]) * width;
    const uint32_t *restrict mask = s->mask_words;
    for (int64_t l = 0; l < width; l++) to[l] = (to[l] & ~mask[l]) | (row[l] & mask[l]);
}

static void compute(struct machine *m, struct slot *s, const struct instruction *i)
{
    int64_t width = WIDTH(m);
    const uint32_t *rows[3][4] = {{0}};
    uint32_t out[4][WIDEST];
    for (int n = 0; n < i->sources; n++) find_source(m, s, i, n, rows[n]);
    if (i->op == LEN || i->op == NORM) {
        float length[WIDEST];
        lengths(width, i->source[0].count, rows[0], length);
        for (int n = 0; n < i->count; n++)
            for (int64_t l = 0; l < width; l++) {
                float part = length[l] == 0.0f ? 0.0f : as_float(rows[0][n][l]) / length[l];
                out[n][l] = as_word(i->op == LEN ? length[l] : part);
            }
    } else {
        for (int n = 0; n < i->count; n++) {
            const uint32_t *part[3];
            for (int k = 0; k < 3; k++) part[k] = k < i->sources && i->source[k].count > 1 ? rows[k][n] : rows[k][0];
            map(i->op, width, out[n], part[0], part[1], part[2]);
        }
    }
    for (int n = 0; n < i->count; n++) write_row(m, s, i, n, out[n]);
}
