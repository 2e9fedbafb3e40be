/* What lanes access, in ascending order of lanes, four addresses each at most (simt/mask/step.py, sampling.py). */

struct touched { int lanes, lane[WIDEST], count; int64_t address[4][WIDEST]; };

static int is_full(struct machine *m, const struct slot *s) { return s->exec == ~(uint64_t)0 >> (64 - WIDTH(m)); }

/* Note which lanes are active. */
static void touch_lanes(struct machine *m, const struct slot *s, struct touched *t)
{
    t->lanes = __builtin_popcountll(s->exec);
    if (is_full(m, s)) {
        for (int l = 0; l < WIDTH(m); l++) t->lane[l] = l;
        return;
    }
    uint64_t left = s->exec;
    for (int k = 0; k < t->lanes; k++, left &= left - 1) t->lane[k] = __builtin_ctzll(left);
}

/* Note the addresses of active lanes, after touch_lanes: of all lanes, `words[l]` words behind the begin of a view. */
static void touch_words(struct machine *m, const struct slot *s, struct touched *t, int n, int64_t base,
                        const int32_t *words)
{
    int64_t *address = t->address[n];
    if (is_full(m, s))
        for (int64_t l = 0; l < WIDTH(m); l++) address[l] = base + 4 * (int64_t)words[l];
    else
        for (int k = 0; k < t->lanes; k++) address[k] = base + 4 * (int64_t)words[t->lane[k]];
}

static int check(struct machine *m, struct slot *s, const struct instruction *i, int64_t lane, int64_t offset)
{
    int64_t size = m->views[i->view].size;
    if (offset % 4) return stop(m, s, MISALIGNED, lane, offset, 0);
    for (int n = 0; n < i->moved; n++)
        if (offset + 4 * i->which[n] + 4 > size) return stop(m, s, OUTSIDE, lane, offset + 4 * i->which[n], size);
    return 1;
}

static int place_words(struct machine *m, struct slot *s, const struct instruction *i, const uint32_t *offsets,
                       struct touched *t)
{
    t->lanes = 0;
    t->count = i->moved;
    for (int64_t l = 0; l < WIDTH(m); l++) {
        if (!(s->exec >> l & 1)) continue;
        if (!check(m, s, i, l, offsets[l])) return 0;
        for (int n = 0; n < i->moved; n++)
            t->address[n][t->lanes] = m->views[i->view].base + offsets[l] + 4 * i->which[n];
        t->lane[t->lanes++] = (int)l;
    }
    return 1;
}

static int load(struct machine *m, struct slot *s, const struct instruction *i, struct touched *t)
{
    const uint32_t *rows[4] = {0};
    find_source(m, s, i, 0, rows);
    if (!place_words(m, s, i, rows[0], t)) return 0;
    struct view *view = &m->views[i->view];
    /* the address may be in the register that is written */
    uint32_t word[WIDEST][4];
    for (int k = 0; k < t->lanes; k++)
        for (int n = 0; n < i->moved; n++) word[k][n] = view->words[(t->address[n][k] - view->base) / 4];
    for (int k = 0; k < t->lanes; k++)
        for (int n = 0; n < i->moved; n++)
            s->registers[(i->destination * 4 + i->components[n]) * WIDTH(m) + t->lane[k]] = word[k][n];
    return 1;
}

static int store_pixels(struct machine *m, struct slot *s, const struct instruction *i, const uint32_t *const *place,
                        const uint32_t *const *value, struct touched *t)
{
    struct view *view = &m->views[i->view];
    int32_t at[WIDEST], is_outside = 0;
    for (int64_t l = 0; l < WIDTH(m); l++) {
        int64_t x = place[0][l], y = place[1][l];
        at[l] = (int32_t)(y * view->width + x);
        is_outside |= s->mask_words[l] && (x >= view->width || y >= view->height);
    }
    touch_lanes(m, s, t);
    for (int k = 0; is_outside && k < t->lanes; k++) {
        int64_t l = t->lane[k], x = place[0][l], y = place[1][l];
        if (x >= view->width || y >= view->height) return stop(m, s, PIXEL, l, x, y);
    }
    t->count = 1;
    touch_words(m, s, t, 0, view->base, at);
    uint32_t bytes[WIDEST] = {0}, kept = ~0u;
    for (int n = 0; n < i->moved; n++) {
        uint32_t shift = 8 * (uint32_t)i->which[n];
        for (int64_t l = 0; l < WIDTH(m); l++)
            bytes[l] = (bytes[l] & ~(255u << shift)) | (uint32_t)(int32_t)(clamp(as_float(value[n][l])) * 255.0f + 0.5f) << shift;
        kept &= ~(255u << shift);
    }
    for (int k = 0; k < t->lanes; k++) {
        uint32_t *pixel = &view->words[(t->address[0][k] - view->base) / 4];
        *pixel = (*pixel & kept) | bytes[t->lane[k]];
    }
    return 1;
}

static int store(struct machine *m, struct slot *s, const struct instruction *i, struct touched *t)
{
    const uint32_t *place[4], *value[4];
    find_source(m, s, i, 0, place);
    find_source(m, s, i, 1, value);
    if (i->is_pixel) return store_pixels(m, s, i, place, value, t);
    if (!place_words(m, s, i, place[0], t)) return 0;
    struct view *view = &m->views[i->view];
    for (int k = 0; k < t->lanes; k++)
        for (int n = 0; n < i->moved; n++) view->words[(t->address[n][k] - view->base) / 4] = value[n][t->lane[k]];
    return 1;
}

/* Where texels are that a place lies between, along one axis: the lower one and how far from it, the next one. */
static void split(int64_t width, const uint32_t *restrict place, int64_t size, int32_t *restrict low,
                  int32_t *restrict high, float *restrict part)
{
    int32_t count = (int32_t)size, is_far = 0, is_power = !(count & (count - 1));
    for (int64_t l = 0; l < width; l++) {
        float x = as_float(place[l]) * (float)count - 0.5f, floor = floorf(x);
        /* what no index can be is the first one's place */
        int32_t is_there = fabsf(floor) < 2147483648.0f, index = (int32_t)(is_there ? floor : 0.0f);
        is_far |= !(floor >= -1.0f) | !(floor < (float)count);
        part[l] = is_there ? x - floor : 0.0f;
        low[l] = is_power ? index & (count - 1) : index < 0 ? index + count : index;
    }
    /* remainders take long: once more, only where there are some */
    for (int64_t l = 0; is_far && !is_power && l < width; l++) {
        float floor = floorf(as_float(place[l]) * (float)count - 0.5f);
        int32_t index = fabsf(floor) < 2147483648.0f ? (int32_t)floor % count : 0;
        low[l] = index < 0 ? index + count : index;
    }
    for (int64_t l = 0; l < width; l++) high[l] = low[l] + 1 == count ? 0 : low[l] + 1;
}

static void blend(int64_t width, uint32_t texel[4][WIDEST], int channel, const float *a, const float *b, uint32_t *out)
{
    for (int64_t l = 0; l < width; l++) {
        float corner[4];
        for (int k = 0; k < 4; k++) corner[k] = (float)(texel[k][l] >> 8 * channel & 255) / 255.0f;
        float upper = corner[0] * (1.0f - a[l]) + corner[1] * a[l], lower = corner[2] * (1.0f - a[l]) + corner[3] * a[l];
        out[l] = as_word(upper * (1.0f - b[l]) + lower * b[l]);
    }
}

static int sample(struct machine *m, struct slot *s, const struct instruction *i, struct touched *t)
{
    const uint32_t *place[4];
    find_source(m, s, i, 0, place);
    struct view *view = &m->views[i->view];
    int64_t width = WIDTH(m);
    int32_t x[2][WIDEST], y[2][WIDEST], at[4][WIDEST];
    float a[WIDEST], b[WIDEST];
    uint32_t texel[4][WIDEST], out[WIDEST];
    split(width, place[0], view->width, x[0], x[1], a);
    split(width, place[1], view->height, y[0], y[1], b);
    for (int k = 0; k < 4; k++)
        for (int64_t l = 0; l < width; l++) {
            at[k][l] = y[k / 2][l] * (int32_t)view->width + x[k % 2][l];
            texel[k][l] = view->words[at[k][l]];
        }
    for (int n = 0; n < i->moved; n++) {
        blend(width, texel, i->which[n], a, b, out);
        write_row(m, s, i, n, out);
    }
    touch_lanes(m, s, t);
    t->count = 4;
    for (int k = 0; k < 4; k++) touch_words(m, s, t, k, view->base, at[k]);
    return 1;
}
