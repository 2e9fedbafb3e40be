/* Loops that are right on a device only where blocks of memory are apart, run where they are and where they are not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    double r[2], f[2];
    int type, many;
};

struct list {
    int n, room;
    int *home, *count;
    struct part *parts;
    double *mass;
    int **rows;
};

static double pull(const struct part *a, const struct part *b)
{
    return a->r[0] - 2 * b->r[1];
}

static double at(const struct list *s, int i)
{
    return s->mass[i & 3] + s->parts[i].r[0];
}

/* the bound may be what is counted */
static void tally(struct list *s)
{
    for (int i = 0; i < s->n; i++)
        s->count[s->home[i]]++;
}

/* the masses may be forces */
static void push(struct list *s)
{
    for (int i = 0; i < s->n; i++) {
        struct part *p = &s->parts[i];
        p->f[0] += s->mass[p->type] * 0.5;
    }
}

/* others of the same array are read, at other members */
static void gather(struct list *s, const int *who)
{
    struct part *p = s->parts;
    for (int i = 0; i < s->n; i++)
        p[i].f[1] = pull(&p[i], &p[who[i]]) + at(s, i);
}

/* behind the end of a block lies its own end */
static void backwards(int n, double *a, const double *end, const int *who)
{
    for (int i = 0; i < n; i++)
        a[i] = end[-1 - who[i]] + a[i];
}

/* a row may be the bound */
static void fill(struct list *s, const int *who)
{
    for (int i = 0; i < s->n; i++)
        s->rows[i][who[i]] += i;
}

enum { PARTS = 8, NUMBERS = 40 };

/* what stands in one block, by `how`: 0 nothing, 1 the list and its counters, 2 masses and parts, 3 rows and the list */
static void run(int how)
{
    char *block = calloc(1, 4096);
    struct list *s = how == 1 || how == 3 ? (struct list *)(block + 16) : calloc(1, sizeof *s);
    int *who = malloc(NUMBERS * sizeof *who);
    double sum = 0;
    long counted = 0;

    s->n = 4;
    s->room = PARTS;
    s->home = malloc(NUMBERS * sizeof *s->home);
    s->parts = (struct part *)(block + 1024);
    memset(s->parts, 0, PARTS * sizeof *s->parts);
    s->mass = how == 2 ? (double *)s->parts + 2 : calloc(NUMBERS, sizeof *s->mass);
    s->count = how == 1 ? &s->n : calloc(NUMBERS, sizeof *s->count);
    s->rows = calloc(PARTS, sizeof *s->rows);
    for (int k = 0; k < NUMBERS; k++) {
        s->home[k] = k < 3 ? 0 : k % 5 + 30;
        who[k] = (k * 5 + 1) % 4;
    }
    if (how != 1)
        for (int k = 0; k < NUMBERS; k++)
            s->home[k] = k % 7;
    for (int k = 0; k < PARTS; k++) {
        s->parts[k].r[0] = k * 0.25;
        s->parts[k].r[1] = 2 - k;
        s->parts[k].type = k % 3;
        s->rows[k] = how == 3 && k == 1 ? &s->n - 3 : malloc(8 * sizeof **s->rows);
        if (how != 3 || k != 1)
            memset(s->rows[k], 0, 8 * sizeof **s->rows);
    }
    if (how != 2)
        for (int k = 0; k < NUMBERS; k++)
            s->mass[k] = 1 + k;
    if (how != 3)
        tally(s);
    if (how == 1) {
        printf("%d entries\n", s->n);
        s->n = 4;
    }
    push(s);
    gather(s, who);
    backwards(4, how == 2 ? (double *)s->parts : calloc(8, 8), (double *)s->parts + 4, who);
    if (how == 3) {
        who[0] = 0, who[1] = 3, who[2] = who[3] = who[4] = who[5] = 1;
        fill(s, who);
    }
    for (int k = 0; k < PARTS; k++)
        sum = sum * 1.5 + s->parts[k].f[0] + 3 * s->parts[k].f[1] + s->parts[k].r[0] + s->parts[k].r[1];
    for (int k = how == 1 ? 30 : 0; k < NUMBERS; k++)
        counted += s->count[k] * (k + 1L);
    printf("%d: %.6f %ld %d\n", how, sum, counted, s->n);
}

int main(void)
{
    for (int how = 0; how < 4; how++)
        run(how);
    return 0;
}
