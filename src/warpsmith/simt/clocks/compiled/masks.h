/* Faults, the mask and its stack (simt/mask/stack.py). */

static int stop(struct machine *m, struct slot *s, int kind, int64_t lane, int64_t first, int64_t second)
{
    int64_t wave = s->wave;
    if (m->p.formation) {
        /* the wave and the lane in which the thread began */
        wave = s->wave_ids[lane < 0 ? __builtin_ctzll(s->exec) : lane];
        if (lane >= 0) lane = s->lane_ids[lane];
    }
    memcpy(m->fault, (int64_t[]){kind, s->pc, wave, lane, first, second}, sizeof m->fault);
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

/* Return the lanes whose value is not 0. */
static uint64_t find_true(struct machine *m, struct slot *s, const struct instruction *i)
{
    uint64_t true_lanes = 0;
    const uint32_t *rows[4];
    if (!i->sources) return 0;
    find_source(m, s, i, 0, rows);
    for (int64_t l = 0; l < WIDTH(m); l++) true_lanes |= (uint64_t)(rows[0][l] != 0) << l;
    return true_lanes;
}

static int control(struct machine *m, struct slot *s, const struct instruction *i)
{
    uint64_t true_lanes = find_true(m, s, i);
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
