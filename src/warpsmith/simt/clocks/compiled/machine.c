/* The machine with clocks, compiled: the rules of core.py, slot.py, schedulers.py, caches.py and of simt/mask, for many
   clocks at a time. Equal to the reference clock for clock, so a rule that changes there changes here.

   What it does besides: a wave that waits is not looked at until the first of its locks is gone, and clocks in which no
   wave could issue are passed over at once. */

#include "machine.h"
#include "recording.h"
#include "caches.h"
#include "operations.h"
#include "masks.h"
#include "memory.h"
#include "formed.h"
#include "waves.h"
#include "scheduling.h"

static void begin_waves(struct machine *m)
{
    for (int64_t n = 0; n < m->p.slots; n++)
        for (int64_t c = 0; c < m->p.cores; c++) {
            struct slot *s = &m->cores[c].slots[n];
            if (m->begun == m->p.waves) return;
            if (m->p.formation) {
                if (!m->cores[c].alive[n]) begin_threads(m, &m->cores[c], n);
                continue;
            }
            if (s->present) continue;
            int64_t width = WIDTH(m), lanes = m->waves[2 * m->begun + 1];
            fill(s->wave_ids, width, (uint32_t)m->begun);
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
        for (int64_t n = 0; n < m->cores[c].used; n++) {
            struct slot *s = &m->cores[c].slots[n];
            if (!s->present || (oldest && oldest->age < s->age)) continue;
            oldest = s;
            if (m->p.formation) gather(m, &m->cores[c], s, &m->program[s->pc]);
        }
    if (oldest) stop(m, oldest, ENDLESS, -1, m->now, 0);
}

/* One slot in each state: the counts of a core in one word. */
static const uint64_t ONE[8] = {0, 1, 1 << 16, (uint64_t)1 << 32, (uint64_t)1 << 48};

/* Go on up to clock `until`; return 1 when all waves have ended, or a fault has stopped the machine. At clock `most` the
   waves that still run are taken for endless. */
int ws_advance(struct machine *m, int64_t until, int64_t most)
{
    while (m->now < until) {
        if (m->has_room && m->begun < m->p.waves) begin_waves(m);
        m->has_room = 0;
        if (!m->running) return 1;
        if (m->now == most) {
            stop_endless(m);
            return 1;
        }
        int64_t next = INT64_MAX, limit = until < most ? until : most;
        int64_t counted[5] = {0};
        for (int64_t c = 0; c < m->p.cores; c++) {
            int64_t changes = clock_core(m, c, m->state);
            if (m->fault[0]) break;
            uint64_t packed = 0;
            for (int64_t n = 0; n < m->cores[c].used; n++) packed += ONE[m->state[n] & 7];
            for (int n = 1; n < 5; n++) counted[n] += packed >> 16 * (n - 1) & 0xffff;
            if (changes < next) next = changes;
        }
        if (m->fault[0]) return 1;
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

/* A slot has registers and a scoreboard of its own; rows of formed waves share those of the first, for copies. */
static void begin_slot(struct machine *m, struct slot *s, struct slot *first)
{
    size_t width = (size_t)WIDTH(m), registers = (size_t)m->p.registers + 1;
    s->age = s->state = -1;
    s->stack = calloc((size_t)m->p.stack, sizeof *s->stack);
    s->mask_words = calloc(width, sizeof *s->mask_words);
    int is_copy = m->p.formation && s != first;
    s->registers = is_copy ? first->registers : calloc(registers * 4 * width, sizeof *s->registers);
    s->threads = is_copy ? first->threads : calloc(width, sizeof *s->threads);
    s->wave_ids = is_copy ? first->wave_ids : calloc(width, sizeof *s->wave_ids);
    s->lane_ids = is_copy ? first->lane_ids : calloc(width, sizeof *s->lane_ids);
    s->ready = is_copy ? first->ready : calloc(registers * width, sizeof *s->ready);
    s->latest = is_copy ? first->latest : calloc(registers, sizeof *s->latest);
    for (size_t l = 0; l < width; l++) s->lane_ids[l] = (uint32_t)l;
    if (!m->p.formation) return;
    s->state = EMPTY;
    s->seen_wave = s->seen_index = -1;
    s->seen_threads = calloc(width, sizeof *s->seen_threads);
    s->place = calloc(width, sizeof *s->place);
    s->home = calloc(width, sizeof *s->home);
}

static void begin_homes(struct machine *m, struct core *core)
{
    size_t width = (size_t)WIDTH(m), places = (size_t)m->p.slots, registers = (size_t)m->p.registers + 1;
    core->home_registers = calloc(places * registers * 4 * width, sizeof *core->home_registers);
    core->home_ready = calloc(places * registers * width, sizeof *core->home_ready);
    core->home_threads = calloc(places * width, sizeof *core->home_threads);
    core->home_wave = calloc(places, sizeof *core->home_wave);
    core->alive = calloc(places, sizeof *core->alive);
}

static void begin_constants(struct machine *m)
{
    int64_t width = WIDTH(m);
    m->rows_of_builtins = calloc((size_t)(3 * width), sizeof *m->rows_of_builtins);
    m->constants = calloc((size_t)(m->p.instructions * 12 * width), sizeof *m->constants);
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
    m->has_room = 1;
    m->chime = p->width / p->lanes_per_alu;
    while ((int64_t)1 << m->line_shift < p->line) m->line_shift++;
    begin_cache(&m->l2, p->l2, 1);
    begin_constants(m);
    m->rows = p->formation ? p->slots * p->width : p->slots;
    int64_t last = p->waves ? 2 * (p->waves - 1) : 0;
    m->thread_clocks = calloc((size_t)((waves[last] + waves[last + 1]) * THREAD_STATES), sizeof *m->thread_clocks);
    m->state = calloc((size_t)m->rows, sizeof *m->state);
    m->lanes_at = calloc((size_t)p->instructions, sizeof *m->lanes_at);
    m->cores = calloc((size_t)p->cores, sizeof *m->cores);
    for (int64_t c = 0; c < p->cores; c++) {
        struct core *core = &m->cores[c];
        core->slots = calloc((size_t)m->rows, sizeof *core->slots);
        core->alu_free = calloc((size_t)p->alus, sizeof *core->alu_free);
        core->order = calloc((size_t)m->rows, sizeof *core->order);
        core->current = calloc((size_t)p->issue, sizeof *core->current);
        for (int64_t n = 0; n < p->issue; n++) core->current[n] = n;
        begin_cache(&core->l1, p->l1, 0);
        begin_cache(&core->sampler, p->sampler, 2);
        for (int64_t n = 0; n < m->rows; n++) begin_slot(m, &core->slots[n], core->slots);
        core->used = p->formation ? 0 : p->slots;
        if (p->formation) begin_homes(m, core);
    }
    return m;
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
        for (int64_t n = 0; n < m->rows; n++) {
            struct slot *s = &core->slots[n];
            free(s->stack), free(s->mask_words), free(s->place), free(s->home), free(s->seen_threads);
            if (m->p.formation && n) continue;
            free(s->registers), free(s->threads), free(s->wave_ids), free(s->lane_ids), free(s->ready), free(s->latest);
        }
        free(core->home_registers), free(core->home_threads), free(core->home_ready), free(core->home_wave);
        free(core->alive);
        free(core->slots), free(core->alu_free), free(core->order), free(core->current);
        end_cache(&core->l1);
        end_cache(&core->sampler);
    }
    end_cache(&m->l2);
    free(m->cores), free(m->constants), free(m->state), free(m->thread_clocks), free(m->lanes_at), free(m->rows_of_builtins);
    free(m->stretches.row), free(m->alus.row), free(m->events.row), free(m->left.row);
    free(m);
}
