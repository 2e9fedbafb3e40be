/* Lines, sets, DRAM: when data are there (caches.py). */

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
