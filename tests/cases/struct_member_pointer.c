/* The arrays hang off a struct.
 * RUN: port --verify off
 * EXPECT: step/i parallel-after ported: parallel after localize=step/i
 */
struct grid {
    int n;
    double *now, *next;
};

void step(struct grid *g)
{
    for (int i = 1; i < g->n - 1; i++)
        g->next[i] = 0.5 * (g->now[i - 1] + g->now[i + 1]);
}
