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

static void record(struct machine *m, int64_t core, int64_t slot, int state, int64_t index, uint64_t mask)
{
    struct slot *s = &m->cores[core].slots[slot];
    int64_t wave = state == EMPTY ? -1 : s->wave;
    if (s->state == state && s->seen_wave == wave && s->seen_index == index && s->seen_mask == mask) return;
    if (s->state >= 0 && m->now > s->start)
        put(&m->stretches,
            (int64_t[]){core, slot, s->start, m->now, s->state, s->seen_wave, s->seen_index, (int64_t)s->seen_mask}, 8);
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

/* Return the rows of a kind. */
struct row *ws_rows(struct machine *m, int kind)
{
    return (struct rows *[]){&m->stretches, &m->alus, &m->events, &m->left}[kind]->row;
}
