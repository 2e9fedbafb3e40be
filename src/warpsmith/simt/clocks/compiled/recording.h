/* What happened, as rows of words, and what is counted; Python reads both (fast.py). */

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

/* Count the clocks of a slot as it was, thread by thread. */
static void count_threads(struct machine *m, struct slot *s)
{
    static const int OF_THREAD[] = {STALLED, ISSUES, STALLED, STALLED, WAITS_ITS_TURN};
    int64_t clocks = m->now - s->start, count = WIDTH(m), first = 0;
    if (s->seen_wave < 0) return;
    if (!m->p.formation) {
        first = m->waves[2 * s->seen_wave];
        count = m->waves[2 * s->seen_wave + 1];
    }
    for (int64_t l = 0; l < count; l++) {
        int on = s->seen_mask >> l & 1;
        if (m->p.formation && !on) continue;
        int64_t thread = m->p.formation ? s->seen_threads[l] : first + l;
        m->thread_clocks[thread * THREAD_STATES + (on ? OF_THREAD[s->state] : MASKED_OFF)] += clocks;
    }
}

/* Whether other threads are in a formed wave than those seen. */
static int has_other_threads(struct machine *m, const struct core *core, struct slot *s, int state)
{
    int other = 0;
    if (!m->p.formation || state == EMPTY || state < 0) return 0;
    for (int64_t l = 0; l < WIDTH(m); l++) {
        uint32_t thread = core->home_threads[s->place[l] * WIDTH(m) + s->home[l]];
        other |= (s->exec >> l & 1) && s->seen_threads[l] != thread;
    }
    return other;
}

static void note_threads(struct machine *m, const struct core *core, struct slot *s)
{
    for (int64_t l = 0; l < WIDTH(m); l++) s->seen_threads[l] = core->home_threads[s->place[l] * WIDTH(m) + s->home[l]];
}

static void record(struct machine *m, int64_t core, int64_t slot, int state, int64_t index, uint64_t mask)
{
    struct slot *s = &m->cores[core].slots[slot];
    int64_t wave = state == EMPTY ? -1 : s->wave;
    if (s->state == state && s->seen_wave == wave && s->seen_index == index && s->seen_mask == mask &&
        !has_other_threads(m, &m->cores[core], s, state))
        return;
    if (s->state >= 0 && m->now > s->start) {
        count_threads(m, s);
        put(&m->stretches,
            (int64_t[]){core, slot, s->start, m->now, s->state, s->seen_wave, s->seen_index, (int64_t)s->seen_mask}, 8);
    }
    if (m->p.formation) note_threads(m, &m->cores[core], s);
    s->state = state;
    s->start = m->now;
    s->seen_wave = wave;
    s->seen_index = index;
    s->seen_mask = mask;
}

/* Write what is counted: clocks, instructions, those of lanes, clocks of slots by state, of ALUs, events of caches, bytes,
   the fault, how many rows of each kind there are, and slots of a core that were used. */
void ws_totals(struct machine *m, int64_t *out)
{
    int64_t used = 0, there = 0;
    for (int64_t c = 0; c < m->p.cores; c++)
        if (m->cores[c].used > used) used = m->cores[c].used;
    for (int n = 1; n < 5; n++) there += m->slot_clocks[n];
    m->slot_clocks[EMPTY] = used * m->p.cores * m->now - there;
    if (m->p.recorded)
        for (int64_t c = 0; c < m->p.cores; c++)
            for (int64_t n = 0; n < used; n++)
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
    *out++ = used;
}

/* Return the clocks of each thread by its states. */
int64_t *ws_threads(struct machine *m) { return m->thread_clocks; }

/* Return the rows of a kind. */
struct row *ws_rows(struct machine *m, int kind)
{
    return (struct rows *[]){&m->stretches, &m->alus, &m->events, &m->left}[kind]->row;
}
