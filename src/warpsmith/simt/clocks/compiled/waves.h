/* What a wave waits for, and the instruction that it executes (slot.py, core.py). */

/* Note what a wave waits for, and until when that stays so. */
static void look_at_locks(struct machine *m, struct slot *s)
{
    const struct instruction *i = &m->program[s->pc];
    int64_t width = WIDTH(m), least = 2 * (m->now + 1), never = INT64_MAX - 1, first = never, kinds = 0;
    uint32_t all = i->op == RET ? ~0u : 0;
    int64_t count = all ? m->p.registers : i->locked_count;
    for (int64_t n = 0; n < count; n++) {
        int64_t reg = all ? n : i->locked[n];
        if (s->latest[reg] < least) continue;
        const int64_t *restrict ready = s->ready + reg * width;
        const uint32_t *restrict mask = s->mask_words;
        for (int64_t l = 0; l < width; l++) {
            int64_t value = ready[l] & (int32_t)(mask[l] | all), locked = value >= least ? value : never;
            first = locked < first ? locked : first;
            kinds |= locked;
        }
    }
    int waits = first != never;
    s->blocked = kinds & 1 ? WAITS_MEMORY : waits ? WAITS_RESULT : 0;
    s->recheck = waits ? first >> 1 : m->now;
}

/* Note what a wave waits for that may be formed of threads. */
static void look_at_wave(struct machine *m, struct core *core, struct slot *s)
{
    if (m->p.formation) gather(m, core, s, &m->program[s->pc]);
    look_at_locks(m, s);
}

/* Ask for the lines that lanes touch, each once, in order of lanes; lock what a load writes until its lines are there. */
static int64_t access_lines(struct machine *m, int64_t core, struct cache *cache, struct slot *s,
                            const struct instruction *i, struct touched *t)
{
    int64_t number[4 * WIDEST], there[4 * WIDEST], is_other[WIDEST] = {0}, lines = 0, last[4] = {0};
    int64_t *ready = s->ready + i->destination * WIDTH(m), *latest = s->latest + i->destination;
    for (int n = 0; n < t->count; n++)
        for (int k = 1; k < t->lanes; k++) is_other[k] |= t->address[n][k] ^ t->address[n][k - 1];
    for (int k = 1; k < t->lanes; k++) is_other[k] >>= m->line_shift;
    for (int k = 0, next = 0; k < t->lanes; k = next) {
        int64_t until = 0;
        for (int n = 0; n < t->count; n++) {
            int64_t line = t->address[n][k] >> m->line_shift, at = lines - 1;
            if (lines && number[last[n]] == line) at = last[n];
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
            last[n] = at;
            if (there[at] > until) until = there[at];
        }
        /* a lane that touches the lines of the one before waits as long */
        for (next = k + 1; next < t->lanes && !is_other[next];) next++;
        if (!i->writes) continue;
        int64_t value = 2 * (until + m->p.late) + 1;
        for (; k < next; k++) ready[t->lane[k]] = value;
        if (value > *latest) *latest = value;
    }
    return m->now + lines;
}

static void take_alu(struct machine *m, int64_t core, int64_t alu, struct slot *s, const struct instruction *i)
{
    int64_t width = WIDTH(m), end = m->now + m->chime * i->clocks;
    m->cores[core].alu_free[alu] = end;
    m->alu_clocks += end - m->now;
    if (m->p.recorded) put(&m->alus, (int64_t[]){core, alu, m->now, end, s->wave}, 5);
    int64_t value = 2 * (end + m->p.pipe - 1 + m->p.late), *ready = s->ready + i->destination * width;
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
    if (m->p.formation) gather(m, core, s, i);
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
        if (!(m->p.formation && i->op != RET ? part : control)(m, s, i)) return 0;
    }
    s->pooled = 0;
    if (m->p.formation && i->writes) scatter(m, core, s, i->destination);
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
            look_at_wave(m, &m->cores[core], s);
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
