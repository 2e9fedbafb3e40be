/* What lanes access, in ascending order of lanes, four addresses each at most (simt/mask/step.py, sampling.py). */

struct touched { int lanes, lane[WIDEST], count; int64_t address[WIDEST][4]; };

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
            t->address[t->lanes][n] = m->views[i->view].base + offsets[l] + 4 * i->which[n];
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
        for (int n = 0; n < i->moved; n++) word[k][n] = view->words[(t->address[k][n] - view->base) / 4];
    for (int k = 0; k < t->lanes; k++)
        for (int n = 0; n < i->moved; n++)
            s->registers[(i->destination * 4 + i->components[n]) * WIDTH(m) + t->lane[k]] = word[k][n];
    return 1;
}

static int store_pixels(struct machine *m, struct slot *s, const struct instruction *i, const uint32_t *const *place,
                        const uint32_t *const *value, struct touched *t)
{
    struct view *view = &m->views[i->view];
    t->lanes = 0;
    t->count = 1;
    for (int64_t l = 0; l < WIDTH(m); l++) {
        if (!(s->exec >> l & 1)) continue;
        int64_t x = place[0][l], y = place[1][l];
        if (x >= view->width || y >= view->height) return stop(m, s, PIXEL, l, x, y);
        t->address[t->lanes][0] = view->base + 4 * (y * view->width + x);
        t->lane[t->lanes++] = (int)l;
    }
    for (int k = 0; k < t->lanes; k++)
        for (int n = 0; n < i->moved; n++) {
            uint32_t byte = (uint32_t)(clamp(as_float(value[n][t->lane[k]])) * 255.0f + 0.5f);
            uint32_t *pixel = &view->words[(t->address[k][0] - view->base) / 4], shift = 8 * (uint32_t)i->which[n];
            *pixel = (*pixel & ~(255u << shift)) | byte << shift;
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
        for (int n = 0; n < i->moved; n++) view->words[(t->address[k][n] - view->base) / 4] = value[n][t->lane[k]];
    return 1;
}

static int64_t split(float place, int64_t size, float *part)
{
    float x = place * (float)size - 0.5f, low = floorf(x);
    if (!(fabsf(low) < 2147483648.0f)) {
        *part = 0.0f;
        return 0;
    }
    *part = x - low;
    int64_t index = (int64_t)low % size;
    return index < 0 ? index + size : index;
}

static float channel_of(uint32_t word, int channel) { return (float)(word >> 8 * channel & 255) / 255.0f; }

static int sample(struct machine *m, struct slot *s, const struct instruction *i, struct touched *t)
{
    const uint32_t *place[4];
    find_source(m, s, i, 0, place);
    struct view *view = &m->views[i->view];
    uint32_t out[4][WIDEST];
    t->lanes = 0;
    t->count = 4;
    for (int64_t l = 0; l < WIDTH(m); l++) {
        if (!(s->exec >> l & 1)) continue;
        float a, b;
        int64_t x = split(as_float(place[0][l]), view->width, &a), y = split(as_float(place[1][l]), view->height, &b);
        int64_t right = (x + 1) % view->width, below = (y + 1) % view->height;
        int64_t texel[4] = {y * view->width + x, y * view->width + right, below * view->width + x,
                            below * view->width + right};
        for (int n = 0; n < i->moved; n++) {
            float corner[4];
            for (int k = 0; k < 4; k++) corner[k] = channel_of(view->words[texel[k]], i->which[n]);
            float upper = corner[0] * (1.0f - a) + corner[1] * a, lower = corner[2] * (1.0f - a) + corner[3] * a;
            out[n][l] = as_word(upper * (1.0f - b) + lower * b);
        }
        for (int k = 0; k < 4; k++) t->address[t->lanes][k] = view->base + 4 * texel[k];
        t->lane[t->lanes++] = (int)l;
    }
    for (int n = 0; n < i->moved; n++) write_row(m, s, i, n, out[n]);
    return 1;
}
