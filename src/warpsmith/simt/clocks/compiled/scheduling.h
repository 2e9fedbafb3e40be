/* Which waves are asked, in which order, in a clock of a core (schedulers.py, core.py). */

static void choose_greedy(struct machine *m, int64_t at, int *state, int64_t groups)
{
    struct core *core = &m->cores[at];
    for (int64_t group = 0; group < groups && group < core->used && !m->fault[0]; group++) {
        int64_t slot = core->current[group];
        do {
            if (state[slot] == READY) {
                core->current[group] = slot;
                if (issue(m, at, &core->slots[slot])) state[slot] = ACTIVE;
                break;
            }
            slot += groups;
            if (slot >= core->used) slot = group;
        } while (slot != core->current[group]);
    }
}

/* Whether a slot is asked before another: of `majority` those at the instruction at which most lanes stand. */
static int is_before(struct machine *m, struct core *core, const int *state, int64_t one, int64_t other)
{
    struct slot *a = &core->slots[one], *b = &core->slots[other];
    if (m->p.scheduler == MAJORITY) {
        int64_t lanes = state[one] == READY ? m->lanes_at[a->pc] : 0, others = state[other] == READY ? m->lanes_at[b->pc] : 0;
        if (lanes != others) return lanes > others;
        if (lanes && a->pc != b->pc) return a->pc < b->pc;
    }
    return a->age < b->age;
}

static void order_slots(struct machine *m, struct core *core, const int *state)
{
    if (m->p.scheduler == MAJORITY) {
        memset(m->lanes_at, 0, (size_t)m->p.instructions * sizeof *m->lanes_at);
        for (int64_t n = 0; n < core->used; n++)
            if (state[n] == READY) m->lanes_at[core->slots[n].pc] += __builtin_popcountll(core->slots[n].exec);
    }
    for (int64_t n = 0; n < core->used; n++) {
        int64_t k = n;
        for (; k > 0 && is_before(m, core, state, n, core->order[k - 1]); k--) core->order[k] = core->order[k - 1];
        core->order[k] = n;
    }
}

static void choose(struct machine *m, int64_t at, int *state)
{
    struct core *core = &m->cores[at];
    int64_t slots = core->used, left = m->p.interleaved ? 1 : m->p.issue, first = core->first;
    int is_ordered = m->p.scheduler == OLDEST || m->p.scheduler == MAJORITY;
    if (first >= slots) first = 0;
    if (m->p.scheduler == GREEDY) {
        choose_greedy(m, at, state, left);
        return;
    }
    if (is_ordered) order_slots(m, core, state);
    for (int64_t n = 0; n < slots && left && !m->fault[0]; n++) {
        int64_t slot = is_ordered ? core->order[n] : (first + n) % slots;
        if (state[slot] == READY && issue(m, at, &core->slots[slot])) {
            state[slot] = ACTIVE;
            left--;
            core->first = (slot + 1) % m->rows;
        }
    }
}

/* Go through a clock of a core; return the next clock in which something may be otherwise: the one after it where a wave
   could issue. */
static int64_t clock_core(struct machine *m, int64_t at, int *state)
{
    struct core *core = &m->cores[at];
    int64_t next = INT64_MAX;
    int any = 0;
    if (m->p.formation) form_waves(m, core);
    int64_t slots = core->used;
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
            if (m->now >= s->recheck && !s->pooled) look_at_wave(m, core, s);
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
            if (m->p.formation) end_threads(m, core, s);
            leave(m, s);
        }
    }
    return next;
}
