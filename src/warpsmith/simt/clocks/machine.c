/* The machine with clocks, compiled: the rules of core.py, slot.py, schedulers.py, caches.py and of simt/mask, for many
   clocks at a time. Equal to the reference clock for clock, so a rule that changes there changes here.

   What it does besides: a wave that waits is not looked at until the first of its locks is gone, and clocks in which no
   wave could issue are passed over at once. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The width is known when this is compiled, so that loops over lanes become vector instructions. */
#ifdef WS_WIDTH
#define WIDTH(m) ((void)(m), (int64_t)WS_WIDTH)
#else
#define WIDTH(m) ((m)->p.width)
#endif

enum op {
    MOV, UTOF, ADD_F32, SUB_F32, MUL_F32, MAD_F32, LERP, DIV_F32, ABS_F32, CLAMP, LEN, NORM, ADD_U32, SUB_U32, MUL_U32,
    MAD_U32, DIV_U32, AND, OR, LT_F32, GT_F32, LT_U32, GT_U32, LD, ST, SAMPLE, PUSH_MASK, POP_MASK, MASK_NZ, BR_PUSH, JMP,
    RET
};
enum unit { ALU, MEMORY, SAMPLER, CONTROL };
enum source { REGISTER, CONSTANT, THREAD_ID, LANE_ID, WAVE_ID, CLOCK };
enum state { EMPTY, ACTIVE, WAITS_MEMORY, WAITS_RESULT, READY };
enum fault { NONE, UNDERFLOW_, OVERFLOW_, OUTSIDE, MISALIGNED, PIXEL, ENDLESS };
enum scheduler { GREEDY, ROUND_ROBIN, OLDEST };
enum { WIDEST = 64, NAN_BITS = 0x7fc00000 };

/* As encode.py writes them. */
struct source_of { int32_t kind, number, count, components[4], words[4]; };
struct instruction {
    int32_t op, unit, clocks, writes, destination, count, components[4];
    int32_t sources;
    struct source_of source[3];
    int32_t view, is_pixel, moved, which[4], target[2], locked_count, locked[4];
};
struct cache_shape { int64_t sets, ways, latency, is_lru; };
struct parameters {
    int64_t width, lanes_per_alu, cores, slots, alus, issue, interleaved, scheduler, pipe, stack, control, line, registers;
    struct cache_shape l1, l2, sampler;
    int64_t dram_latency, dram_bandwidth, recorded, instructions, waves;
};
struct view { uint32_t *words; int64_t size, width, height, base; };

/* What is recorded; Python has the same rows of eight words. */
struct row { int64_t word[8]; };
struct rows { struct row *row; int64_t count, room; };

struct line { int64_t number, arrives; };
struct cache { struct cache_shape shape; struct line *lines; int32_t *held; int64_t counts[3]; int kind; };
struct entry { uint64_t mask; int64_t target; };
struct slot {
    int64_t wave, age, pc, depth, next_issue, recheck, first_thread;
    uint64_t exec, shown_mask;
    int64_t shown_index;
    int blocked, present, ended;
    struct entry *stack;
    uint32_t *registers, *mask_words, *threads;
    int64_t *ready, *latest; /* until * 2 + (by memory) */
    int64_t state, start, seen_wave, seen_index;
    uint64_t seen_mask;
};
struct core {
    struct slot *slots;
    struct cache l1, sampler;
    int64_t *alu_free, *current, *order, first, memory_free, sampler_free;
};
struct machine {
    struct parameters p;
    struct instruction *program;
    struct view *views;
    int64_t *waves; /* first thread, lanes */
    uint32_t *constants, *lane_ids, *rows_of_builtins;
    struct core *cores;
    struct cache l2;
    int64_t chime, line_shift, dram_free, dram_bytes, now, begun, running;
    int64_t instructions, lane_instructions, slot_clocks[5], alu_clocks;
    int64_t fault[6]; /* kind, index, wave, lane, two words */
    struct rows stretches, alus, events, left;
};

static void put(struct rows *rows, const int64_t *words, int count)
{
    if (rows->count == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 1024;
        struct row *more = realloc(rows->row, (size_t)rows->room * sizeof *more);
        if (!more) abort();
        rows->row = more;
    }
    memcpy(rows->row[rows->count++].word, words, (size_t)count * sizeof *words);
}

/* --- caches and memory */

static int64_t dram_move(struct machine *m, int64_t clock)
{
    int64_t bandwidth = m->p.dram_bandwidth, begin = clock * bandwidth;
    m->dram_free = (begin > m->dram_free ? begin : m->dram_free) + m->p.line;
    m->dram_bytes += m->p.line;
    return (m->dram_free + bandwidth - 1) / bandwidth;
}

static void count_event(struct machine *m, struct cache *cache, int64_t clock, int64_t core, int event)
{
    cache->counts[event]++;
    if (m->p.recorded) put(&m->events, (int64_t[]){clock, core, cache->kind, event}, 4);
}

static int64_t look(struct machine *m, struct cache *cache, int64_t number, int64_t clock, int64_t core)
{
    if (!cache) return dram_move(m, clock) + m->p.dram_latency;
    struct cache *behind = cache == &m->l2 ? NULL : &m->l2;
    if (!cache->shape.sets) return look(m, behind, number, clock, core);
    int64_t set = number % cache->shape.sets, ways = cache->shape.ways;
    struct line *lines = cache->lines + set * ways;
    int held = cache->held[set];
    for (int n = 0; n < held; n++)
        if (lines[n].number == number) {
            count_event(m, cache, clock, core, 0);
            struct line found = lines[n];
            if (cache->shape.is_lru) {
                memmove(lines + n, lines + n + 1, (size_t)(held - n - 1) * sizeof *lines);
                lines[held - 1] = found;
            }
            int64_t there = clock + cache->shape.latency;
            return there > found.arrives ? there : found.arrives;
        }
    count_event(m, cache, clock, core, 1);
    if (held == ways) {
        count_event(m, cache, clock, core, 2);
        memmove(lines, lines + 1, (size_t)(held - 1) * sizeof *lines);
        held--;
    }
    int64_t arrives = look(m, behind, number, clock + cache->shape.latency, core);
    lines[held] = (struct line){number, arrives};
    cache->held[set] = held + 1;
    return arrives;
}

/* --- values */

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
    case DIV_U32: EACH(b[l] ? a[l] / b[l] : 0xffffffffu);
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
    case LANE_ID: rows[0] = m->lane_ids; return;
    case WAVE_ID: fill(row, width, (uint32_t)s->wave); break;
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

/* --- faults, the mask and its stack */

static int stop(struct machine *m, struct slot *s, int kind, int64_t lane, int64_t first, int64_t second)
{
    memcpy(m->fault, (int64_t[]){kind, s->pc, s->wave, lane, first, second}, sizeof m->fault);
    return 0;
}

static void set_exec(struct machine *m, struct slot *s, uint64_t exec)
{
    s->exec = exec;
    for (int64_t l = 0; l < WIDTH(m); l++) s->mask_words[l] = exec >> l & 1 ? 0xffffffffu : 0;
}

static int push(struct machine *m, struct slot *s, uint64_t mask, int64_t target)
{
    if (s->depth == m->p.stack) return stop(m, s, OVERFLOW_, -1, s->depth, 0);
    s->stack[s->depth++] = (struct entry){mask, target};
    return 1;
}

static int pop(struct machine *m, struct slot *s)
{
    if (!s->depth) return stop(m, s, UNDERFLOW_, -1, 0, 0);
    struct entry top = s->stack[--s->depth];
    set_exec(m, s, top.mask);
    s->pc = top.target;
    return 1;
}

static int keep(struct machine *m, struct slot *s, uint64_t lanes)
{
    if (!lanes) return pop(m, s);
    set_exec(m, s, lanes);
    s->pc++;
    return 1;
}

static int control(struct machine *m, struct slot *s, const struct instruction *i)
{
    uint64_t true_lanes = 0;
    if (i->sources) {
        const uint32_t *rows[4];
        find_source(m, s, i, 0, rows);
        for (int64_t l = 0; l < WIDTH(m); l++) true_lanes |= (uint64_t)(rows[0][l] != 0) << l;
    }
    switch (i->op) {
    case PUSH_MASK:
        if (!push(m, s, s->exec, i->target[0])) return 0;
        s->pc++;
        return 1;
    case POP_MASK: return pop(m, s);
    case MASK_NZ: return keep(m, s, s->exec & true_lanes);
    case BR_PUSH:
        if (!push(m, s, s->exec, i->target[1])) return 0;
        if (s->exec & ~true_lanes && !push(m, s, s->exec & ~true_lanes, i->target[0])) return 0;
        return keep(m, s, s->exec & true_lanes);
    case JMP: s->pc = i->target[0]; return 1;
    default: s->ended = 1; return 1;
    }
}

/* --- memory: what lanes access, in ascending order of lanes, four addresses each at most */

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

/* --- the scoreboard */

static void lock(struct slot *s, int64_t width, int64_t reg, int64_t lane, int64_t value)
{
    s->ready[reg * width + lane] = value;
    if (value > s->latest[reg]) s->latest[reg] = value;
}

/* Note what a wave waits for, and until when that stays so. */
static void look_at_locks(struct machine *m, struct slot *s)
{
    const struct instruction *i = &m->program[s->pc];
    int64_t width = WIDTH(m), least = 2 * (m->now + 1), first = INT64_MAX;
    int waits = 0, by_memory = 0, all = i->op == RET;
    int64_t count = all ? m->p.registers : i->locked_count;
    for (int64_t n = 0; n < count; n++) {
        int64_t reg = all ? n : i->locked[n];
        if (s->latest[reg] < least) continue;
        const int64_t *ready = s->ready + reg * width;
        for (int64_t l = 0; l < width; l++)
            if (ready[l] >= least && (all || s->exec >> l & 1)) {
                waits = 1;
                by_memory |= ready[l] & 1;
                if (ready[l] >> 1 < first) first = ready[l] >> 1;
            }
    }
    s->blocked = by_memory ? WAITS_MEMORY : waits ? WAITS_RESULT : 0;
    s->recheck = waits ? first : m->now;
}

/* --- a clock of a core */

static int64_t access_lines(struct machine *m, int64_t core, struct cache *cache, struct slot *s,
                            const struct instruction *i, struct touched *t)
{
    int64_t number[4 * WIDEST], there[4 * WIDEST], lines = 0;
    for (int k = 0; k < t->lanes; k++) {
        int64_t until = 0;
        for (int n = 0; n < t->count; n++) {
            int64_t line = t->address[k][n] >> m->line_shift, at = lines - 1;
            while (at >= 0 && number[at] != line) at--;
            if (at < 0) {
                int64_t clock = m->now + lines, arrives;
                if (i->writes) {
                    arrives = look(m, cache, line, clock, core);
                    if (arrives <= m->now) arrives = m->now + 1;
                } else {
                    arrives = dram_move(m, clock);
                }
                at = lines++;
                number[at] = line;
                there[at] = arrives;
            }
            if (there[at] > until) until = there[at];
        }
        if (i->writes) lock(s, WIDTH(m), i->destination, t->lane[k], 2 * until + 1);
    }
    return m->now + lines;
}

static void take_alu(struct machine *m, int64_t core, int64_t alu, struct slot *s, const struct instruction *i)
{
    int64_t width = WIDTH(m), end = m->now + m->chime * i->clocks;
    m->cores[core].alu_free[alu] = end;
    m->alu_clocks += end - m->now;
    if (m->p.recorded) put(&m->alus, (int64_t[]){core, alu, m->now, end, s->wave}, 5);
    int64_t value = 2 * (end + m->p.pipe - 1), *ready = s->ready + i->destination * width;
    for (int64_t l = 0; l < width; l++) ready[l] = s->exec >> l & 1 ? value : ready[l];
    if (value > s->latest[i->destination]) s->latest[i->destination] = value;
}

/* Execute the wave's next instruction; return 0 where its unit is not free, or a fault stops the machine. */
static int execute(struct machine *m, int64_t at, struct slot *s)
{
    const struct instruction *i = &m->program[s->pc];
    struct core *core = &m->cores[at];
    struct touched touched;
    uint64_t active = s->exec;
    int64_t alu = 0, index = s->pc;
    switch (i->unit) {
    case ALU:
        while (alu < m->p.alus && core->alu_free[alu] > m->now) alu++;
        if (alu == m->p.alus) return 0;
        compute(m, s, i);
        take_alu(m, at, alu, s, i);
        break;
    case MEMORY:
        if (core->memory_free > m->now || !(i->writes ? load : store)(m, s, i, &touched)) return 0;
        core->memory_free = access_lines(m, at, &core->l1, s, i, &touched);
        break;
    case SAMPLER:
        if (core->sampler_free > m->now || !sample(m, s, i, &touched)) return 0;
        core->sampler_free = access_lines(m, at, &core->sampler, s, i, &touched);
        break;
    default:
        if (!control(m, s, i)) return 0;
    }
    if (i->unit != CONTROL) s->pc++;
    s->next_issue = m->now + (i->unit == CONTROL ? m->p.control : m->chime);
    s->recheck = 0;
    m->instructions++;
    m->lane_instructions += __builtin_popcountll(active);
    if (s->ended) {
        uint64_t waiting = 0;
        for (int64_t n = 0; n < s->depth; n++) waiting |= s->stack[n].mask;
        if (waiting & ~s->exec) put(&m->left, (int64_t[]){s->wave, index, (int64_t)(waiting & ~s->exec)}, 3);
    }
    return 1;
}

static int issue(struct machine *m, int64_t core, struct slot *s)
{
    int64_t index = s->pc, most = m->p.interleaved ? m->p.issue : 1, done = 0;
    uint64_t mask = s->exec;
    while (done < most) {
        int is_control = m->program[s->pc].unit == CONTROL;
        if (done) {
            look_at_locks(m, s);
            if (s->blocked) break;
        }
        if (!execute(m, core, s)) break;
        done++;
        if (is_control) break;
    }
    s->recheck = 0;
    if (!done) return 0;
    s->shown_index = index;
    s->shown_mask = mask;
    return 1;
}

static void choose_greedy(struct machine *m, int64_t at, int *state, int64_t groups)
{
    struct core *core = &m->cores[at];
    for (int64_t group = 0; group < groups && group < m->p.slots && !m->fault[0]; group++) {
        int64_t slot = core->current[group];
        do {
            if (state[slot] == READY) {
                core->current[group] = slot;
                if (issue(m, at, &core->slots[slot])) state[slot] = ACTIVE;
                break;
            }
            slot += groups;
            if (slot >= m->p.slots) slot = group;
        } while (slot != core->current[group]);
    }
}

static void choose(struct machine *m, int64_t at, int *state)
{
    struct core *core = &m->cores[at];
    int64_t slots = m->p.slots, left = m->p.interleaved ? 1 : m->p.issue, first = core->first;
    if (m->p.scheduler == GREEDY) {
        choose_greedy(m, at, state, left);
        return;
    }
    if (m->p.scheduler == OLDEST) {
        for (int64_t n = 0; n < slots; n++) {
            int64_t k = n;
            for (; k > 0 && core->slots[core->order[k - 1]].age > core->slots[n].age; k--)
                core->order[k] = core->order[k - 1];
            core->order[k] = n;
        }
    }
    for (int64_t n = 0; n < slots && left && !m->fault[0]; n++) {
        int64_t slot = m->p.scheduler == OLDEST ? core->order[n] : (first + n) % slots;
        if (state[slot] == READY && issue(m, at, &core->slots[slot])) {
            state[slot] = ACTIVE;
            left--;
            core->first = (slot + 1) % slots;
        }
    }
}

static void record(struct machine *m, int64_t core, int64_t slot, int state, int64_t index, uint64_t mask)
{
    struct slot *s = &m->cores[core].slots[slot];
    int64_t wave = state == EMPTY ? -1 : s->wave;
    if (s->state == state && s->seen_wave == wave && s->seen_index == index && s->seen_mask == mask) return;
    if (s->state >= 0)
        put(&m->stretches,
            (int64_t[]){core, slot, s->start, m->now, s->state, s->seen_wave, s->seen_index, (int64_t)s->seen_mask}, 8);
    s->state = state;
    s->start = m->now;
    s->seen_wave = wave;
    s->seen_index = index;
    s->seen_mask = mask;
}

/* Go through a clock of a core; return the next clock in which something may be otherwise: the one after it where a wave
   could issue. */
static int64_t clock_core(struct machine *m, int64_t at, int *state)
{
    struct core *core = &m->cores[at];
    int64_t next = INT64_MAX, slots = m->p.slots;
    int any = 0;
    for (int64_t n = 0; n < slots; n++) {
        struct slot *s = &core->slots[n];
        if (!s->present) {
            state[n] = EMPTY;
            continue;
        }
        int64_t changes;
        if (m->now < s->next_issue) {
            state[n] = ACTIVE + 8;
            changes = s->next_issue;
        } else {
            if (m->now >= s->recheck) look_at_locks(m, s);
            state[n] = s->blocked ? s->blocked : READY;
            any |= !s->blocked;
            changes = s->blocked ? s->recheck : m->now + 1;
        }
        if (changes < next) next = changes;
    }
    if (any) {
        choose(m, at, state);
        if (m->fault[0]) return m->now;
        next = m->now + 1;
    }
    for (int64_t n = 0; n < slots; n++) {
        struct slot *s = &core->slots[n];
        int seen = state[n] & 7, shown = seen == ACTIVE;
        if (m->p.recorded)
            record(m, at, n, seen, !s->present ? -1 : shown ? s->shown_index : s->pc,
                   !s->present ? 0 : shown ? s->shown_mask : s->exec);
        if (s->present && s->ended) {
            s->present = 0;
            s->age = -1;
            m->running--;
        }
    }
    return next;
}

/* --- the machine */

static void begin_waves(struct machine *m)
{
    for (int64_t n = 0; n < m->p.slots; n++)
        for (int64_t c = 0; c < m->p.cores; c++) {
            struct slot *s = &m->cores[c].slots[n];
            if (s->present || m->begun == m->p.waves) continue;
            int64_t width = WIDTH(m), lanes = m->waves[2 * m->begun + 1];
            s->wave = s->age = m->begun;
            for (int64_t l = 0; l < width; l++) s->threads[l] = (uint32_t)(m->waves[2 * m->begun] + l);
            s->pc = s->depth = s->next_issue = s->recheck = s->ended = 0;
            s->present = 1;
            set_exec(m, s, lanes == 64 ? ~(uint64_t)0 : ((uint64_t)1 << lanes) - 1);
            memset(s->registers, 0, (size_t)(m->p.registers * 4 * width) * sizeof *s->registers);
            memset(s->ready, 0, (size_t)(m->p.registers * width) * sizeof *s->ready);
            memset(s->latest, 0, (size_t)m->p.registers * sizeof *s->latest);
            m->begun++;
            m->running++;
        }
}

static void stop_endless(struct machine *m)
{
    struct slot *oldest = NULL;
    for (int64_t c = 0; c < m->p.cores; c++)
        for (int64_t n = 0; n < m->p.slots; n++) {
            struct slot *s = &m->cores[c].slots[n];
            if (s->present && (!oldest || s->age < oldest->age)) oldest = s;
        }
    if (oldest) stop(m, oldest, ENDLESS, -1, m->now, 0);
}

/* Go on up to clock `until`; return 1 when all waves have ended, or a fault has stopped the machine. At clock `most` the
   waves that still run are taken for endless. */
int ws_advance(struct machine *m, int64_t until, int64_t most)
{
    int state[128];
    while (m->now < until) {
        if (m->begun < m->p.waves) begin_waves(m);
        if (!m->running) return 1;
        if (m->now == most) {
            stop_endless(m);
            return 1;
        }
        int64_t next = INT64_MAX, limit = until < most ? until : most;
        int64_t counted[5] = {0};
        for (int64_t c = 0; c < m->p.cores; c++) {
            int64_t changes = clock_core(m, c, state);
            if (m->fault[0]) break;
            for (int64_t n = 0; n < m->p.slots; n++) counted[state[n] & 7]++;
            if (changes < next) next = changes;
        }
        if (m->fault[0]) {
            for (int n = 0; n < 5; n++) m->slot_clocks[n] += counted[n];
            return 1;
        }
        if (!m->running && m->begun == m->p.waves) next = m->now + 1;
        if (next > limit) next = limit;
        for (int n = 0; n < 5; n++) m->slot_clocks[n] += counted[n] * (next - m->now);
        m->now = next;
    }
    return 0;
}

static void begin_cache(struct cache *cache, struct cache_shape shape, int kind)
{
    cache->shape = shape;
    cache->kind = kind;
    cache->lines = calloc((size_t)(shape.sets * shape.ways + 1), sizeof *cache->lines);
    cache->held = calloc((size_t)shape.sets + 1, sizeof *cache->held);
}

static void begin_slot(struct machine *m, struct slot *s)
{
    size_t width = (size_t)WIDTH(m), registers = (size_t)m->p.registers + 1;
    s->age = s->state = -1;
    s->stack = calloc((size_t)m->p.stack, sizeof *s->stack);
    s->registers = calloc(registers * 4 * width, sizeof *s->registers);
    s->mask_words = calloc(width, sizeof *s->mask_words);
    s->threads = calloc(width, sizeof *s->threads);
    s->ready = calloc(registers * width, sizeof *s->ready);
    s->latest = calloc(registers, sizeof *s->latest);
}

static void begin_constants(struct machine *m)
{
    int64_t width = WIDTH(m);
    m->lane_ids = calloc((size_t)width, sizeof *m->lane_ids);
    m->rows_of_builtins = calloc((size_t)(3 * width), sizeof *m->rows_of_builtins);
    m->constants = calloc((size_t)(m->p.instructions * 12 * width), sizeof *m->constants);
    for (int64_t l = 0; l < width; l++) m->lane_ids[l] = (uint32_t)l;
    for (int64_t i = 0; i < m->p.instructions; i++)
        for (int at = 0; at < 3; at++)
            for (int n = 0; n < 4; n++)
                fill(m->constants + ((i * 3 + at) * 4 + n) * width, width, (uint32_t)m->program[i].source[at].words[n]);
}

/* Return a machine at clock 0; what it is given stays the caller's, and must stay there. */
struct machine *ws_begin(struct parameters *p, struct instruction *program, struct view *views, int64_t *waves)
{
    struct machine *m = calloc(1, sizeof *m);
    m->p = *p;
    m->program = program;
    m->views = views;
    m->waves = waves;
    m->chime = p->width / p->lanes_per_alu;
    while ((int64_t)1 << m->line_shift < p->line) m->line_shift++;
    begin_cache(&m->l2, p->l2, 1);
    begin_constants(m);
    m->cores = calloc((size_t)p->cores, sizeof *m->cores);
    for (int64_t c = 0; c < p->cores; c++) {
        struct core *core = &m->cores[c];
        core->slots = calloc((size_t)p->slots, sizeof *core->slots);
        core->alu_free = calloc((size_t)p->alus, sizeof *core->alu_free);
        core->order = calloc((size_t)p->slots, sizeof *core->order);
        core->current = calloc((size_t)p->issue, sizeof *core->current);
        for (int64_t n = 0; n < p->issue; n++) core->current[n] = n;
        begin_cache(&core->l1, p->l1, 0);
        begin_cache(&core->sampler, p->sampler, 2);
        for (int64_t n = 0; n < p->slots; n++) begin_slot(m, &core->slots[n]);
    }
    return m;
}

/* Write what is counted: clocks, instructions, those of lanes, clocks of slots by state, of ALUs, events of caches, bytes,
   the fault, and how many rows of each kind there are. */
void ws_totals(struct machine *m, int64_t *out)
{
    if (m->p.recorded)
        for (int64_t c = 0; c < m->p.cores; c++)
            for (int64_t n = 0; n < m->p.slots; n++)
                if (m->now > m->cores[c].slots[n].start) record(m, c, n, -1, 0, 0);
    *out++ = m->now, *out++ = m->instructions, *out++ = m->lane_instructions;
    for (int n = 0; n < 5; n++) *out++ = m->slot_clocks[n];
    *out++ = m->alu_clocks;
    for (int event = 0; event < 3; event++) {
        out[event] = out[6 + event] = 0;
        for (int64_t c = 0; c < m->p.cores; c++) {
            out[event] += m->cores[c].l1.counts[event];
            out[6 + event] += m->cores[c].sampler.counts[event];
        }
        out[3 + event] = m->l2.counts[event];
    }
    out += 9;
    *out++ = m->dram_bytes;
    for (int n = 0; n < 6; n++) *out++ = m->fault[n];
    *out++ = m->stretches.count, *out++ = m->alus.count, *out++ = m->events.count, *out++ = m->left.count;
}

/* Return the rows of a kind. */
struct row *ws_rows(struct machine *m, int kind)
{
    return (struct rows *[]){&m->stretches, &m->alus, &m->events, &m->left}[kind]->row;
}

static void end_cache(struct cache *cache)
{
    free(cache->lines);
    free(cache->held);
}

void ws_end(struct machine *m)
{
    for (int64_t c = 0; c < m->p.cores; c++) {
        struct core *core = &m->cores[c];
        for (int64_t n = 0; n < m->p.slots; n++) {
            struct slot *s = &core->slots[n];
            free(s->stack), free(s->registers), free(s->mask_words), free(s->threads), free(s->ready), free(s->latest);
        }
        free(core->slots), free(core->alu_free), free(core->order), free(core->current);
        end_cache(&core->l1);
        end_cache(&core->sampler);
    }
    end_cache(&m->l2);
    free(m->cores), free(m->constants), free(m->lane_ids), free(m->rows_of_builtins);
    free(m->stretches.row), free(m->alus.row), free(m->events.row), free(m->left.row);
    free(m);
}
