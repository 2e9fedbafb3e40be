/* Which waves are asked, in which order, in a clock of a core (schedulers.py, core.py). */

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
