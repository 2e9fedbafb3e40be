/* Waves that are formed anew of threads with a home each (formed.py, members.py, simt/mask/parting.py). */

/* Copy what an instruction names, of the threads that are lanes of a wave; of `ret` all locks. */
static void gather(struct machine *m, struct core *core, struct slot *s, const struct instruction *i)
{
    int64_t width = WIDTH(m), registers = m->p.registers, all = i->op == RET, count = all ? registers : i->locked_count;
    for (int64_t n = 0; n < count; n++) {
        int64_t reg = all ? n : i->locked[n];
        s->latest[reg] = INT64_MAX;
        for (int64_t l = 0; l < width; l++) {
            int64_t at = s->place[l] * registers + reg, on = s->exec >> l & 1;
            s->ready[reg * width + l] = on ? core->home_ready[at * width + s->home[l]] : 0;
            for (int64_t c = 0; c < 4; c++)
                s->registers[(reg * 4 + c) * width + l] =
                    on ? core->home_registers[(at * 4 + c) * width + s->home[l]] : 0;
        }
    }
    for (int64_t l = 0; l < width; l++) {
        s->threads[l] = core->home_threads[s->place[l] * width + s->home[l]];
        s->lane_ids[l] = (uint32_t)s->home[l];
        s->wave_ids[l] = (uint32_t)core->home_wave[s->place[l]];
    }
}

/* Bring a register home that was written, with its locks. */
static void scatter(struct machine *m, struct core *core, struct slot *s, int64_t reg)
{
    int64_t width = WIDTH(m), registers = m->p.registers;
    for (int64_t l = 0; l < width; l++) {
        if (!(s->exec >> l & 1)) continue;
        int64_t at = s->place[l] * registers + reg;
        core->home_ready[at * width + s->home[l]] = s->ready[reg * width + l];
        for (int64_t c = 0; c < 4; c++)
            core->home_registers[(at * 4 + c) * width + s->home[l]] = s->registers[(reg * 4 + c) * width + l];
    }
}

static struct slot *form(struct machine *m, struct core *core)
{
    int64_t at = 0;
    while (at < core->used && core->slots[at].present) at++;
    if (at == core->used) core->used++;
    struct slot *s = &core->slots[at];
    s->wave = s->age = m->formed++;
    s->pc = s->depth = s->next_issue = s->recheck = s->ended = s->ways = s->pooled = 0;
    s->present = 1;
    m->running++;
    return s;
}

static void leave(struct machine *m, struct slot *s)
{
    s->present = s->ended = 0;
    s->age = -1;
    m->running--;
    m->has_room = 1;
}

static void begin_threads(struct machine *m, struct core *core, int64_t place)
{
    int64_t width = WIDTH(m), registers = m->p.registers, lanes = m->waves[2 * m->begun + 1];
    memset(core->home_registers + place * registers * 4 * width, 0, (size_t)(registers * 4 * width) * sizeof(uint32_t));
    memset(core->home_ready + place * registers * width, 0, (size_t)(registers * width) * sizeof(int64_t));
    core->home_wave[place] = m->begun;
    core->alive[place] = lanes;
    struct slot *s = form(m, core);
    for (int64_t l = 0; l < width; l++) {
        core->home_threads[place * width + l] = (uint32_t)(m->waves[2 * m->begun] + l);
        s->place[l] = (int32_t)place;
        s->home[l] = (int32_t)l;
    }
    set_exec(m, s, lanes == 64 ? ~(uint64_t)0 : ((uint64_t)1 << lanes) - 1);
    m->begun++;
}

static void end_threads(struct machine *m, struct core *core, struct slot *s)
{
    for (int64_t l = 0; l < WIDTH(m); l++)
        if (s->exec >> l & 1) core->alive[s->place[l]]--;
}

/* Note where the threads of a wave go: at most two ways, whose stacks begin alike. */
static int part(struct machine *m, struct slot *s, const struct instruction *i)
{
    uint64_t on = s->exec & find_true(m, s, i), off = s->exec & ~on;
    int64_t depth = s->depth, pops = i->op == POP_MASK || (i->op == MASK_NZ && off);
    if (pops && !depth) return stop(m, s, UNDERFLOW_, -1, 0, 0);
    if (i->op == PUSH_MASK || i->op == BR_PUSH) {
        if (depth == m->p.stack) return stop(m, s, OVERFLOW_, -1, depth, 0);
        s->stack[depth++] = (struct entry){0, i->target[i->op == BR_PUSH]};
    }
    struct way on_way = {s->exec, s->pc + 1, depth}, popped = {s->exec, depth ? s->stack[depth - 1].target : 0, depth - 1};
    struct way other = popped;
    if (i->op == POP_MASK) on_way = popped;
    if (i->op == JMP) on_way.pc = i->target[0];
    if (i->op == BR_PUSH) other = (struct way){0, i->target[0], depth};
    s->ways = 1;
    s->way[0] = on_way;
    if (i->op != MASK_NZ && i->op != BR_PUSH) return 1;
    on_way.mask = on;
    other.mask = off;
    s->ways = (on != 0) + (off != 0);
    s->way[0] = on ? on_way : other;
    s->way[1] = other;
    return 1;
}

static void go(struct machine *m, struct slot *s, struct way way)
{
    set_exec(m, s, way.mask);
    s->pc = way.pc;
    s->depth = way.depth;
    s->ways = 0;
}

static void send_threads(struct machine *m, struct core *core, struct slot *s)
{
    int64_t width = WIDTH(m);
    if (s->ways == 2) {
        struct slot *other = form(m, core);
        memcpy(other->place, s->place, (size_t)width * sizeof *s->place);
        memcpy(other->home, s->home, (size_t)width * sizeof *s->home);
        memcpy(other->stack, s->stack, (size_t)s->way[1].depth * sizeof *s->stack);
        go(m, other, s->way[1]);
    }
    go(m, s, s->way[0]);
}

static int may_meet(const struct slot *a, const struct slot *b)
{
    if (!a->present || !a->pooled || a->pc != b->pc || a->depth != b->depth) return 0;
    for (int64_t n = 0; n < a->depth; n++)
        if (a->stack[n].target != b->stack[n].target) return 0;
    return 1;
}

/* Let threads of a wave join another: in their own lanes, or in any that are free. */
static void join(struct machine *m, struct slot *from, struct slot *to)
{
    uint64_t mine = from->exec, theirs = to->exec;
    for (int64_t l = 0; l < WIDTH(m); l++) {
        if (!(mine >> l & 1)) continue;
        int64_t at = l;
        if (m->p.formation == CROSSBAR)
            for (at = 0; at < WIDTH(m) && theirs >> at & 1;) at++;
        if (at == WIDTH(m) || theirs >> at & 1) continue;
        to->place[at] = from->place[l];
        to->home[at] = from->home[l];
        theirs |= (uint64_t)1 << at;
        mine &= ~((uint64_t)1 << l);
    }
    set_exec(m, from, mine);
    set_exec(m, to, theirs);
}

static void look_at_wave(struct machine *m, struct core *core, struct slot *s);

/* Waves part whose threads went two ways; those that get ready meet others. */
static void form_waves(struct machine *m, struct core *core)
{
    for (int64_t n = 0; n < core->used; n++) {
        struct slot *s = &core->slots[n];
        if (s->present && s->ways && m->now >= s->next_issue) send_threads(m, core, s);
    }
    for (int64_t n = 0; n < core->used; n++) {
        struct slot *s = &core->slots[n];
        s->entering = s->present && !s->pooled && m->now >= s->next_issue;
        if (!s->entering) continue;
        if (m->now >= s->recheck) look_at_wave(m, core, s);
        s->entering = !s->blocked;
    }
    for (int64_t n = 0; n < core->used; n++) {
        struct slot *s = &core->slots[n];
        if (!s->entering) continue;
        for (int64_t k = 0; k < core->used && s->exec; k++)
            if (may_meet(&core->slots[k], s)) join(m, s, &core->slots[k]);
        s->pooled = 1;
        if (!s->exec) leave(m, s);
    }
}
