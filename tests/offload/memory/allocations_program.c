#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct atom { double r[3]; int kind; };

static void gather(int n, const int *at, const double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[at[i]];
}

static void tally(int n, const int *key, int *count)
{
    for (int i = 0; i < n; i++)
        count[key[i]] += 2;
}

static void kick(int n, const int *mate, const struct atom *a, const double *mass, double *f)
{
    for (int i = 0; i < n; i++)
        f[i] += (a[mate[i]].r[0] - a[i].r[0]) * mass[a[mate[i]].kind];
}

static void lookup(int n, const int *row, const int *bin, double **table, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] += table[row[i]][bin[i]];
}

static double sum(int n, const double *y)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s = 0.5 * s + y[i] * (i % 7 + 1);
    return s;
}

static const double masses[3] = { 1.0, 2.5, 4.0 };

int main(void)
{
    int n = 200;
    double *y = malloc(n * sizeof *y), *f = calloc(n, sizeof *f);
    int *at = malloc(n * sizeof *at), *key = malloc(n * sizeof *key);

    for (int i = 0; i < n; i++) {
        at[i] = (i * 37 + 11) % n;
        key[i] = i * i % 13;
    }
    /* blocks that are freed and used again, at other sizes */
    for (int k = 1; k < 6; k++) {
        double *x = malloc(n * k * sizeof *x);
        for (int i = 0; i < n * k; i++)
            x[i] = i * 0.5 - k;
        gather(n, at, x, y);
        printf("fresh %d %.17g\n", k, sum(n, y));
        x = realloc(x, 2 * n * k * sizeof *x);
        for (int i = 0; i < n; i++)
            x[n * k + i] = i + 0.125;
        gather(n, at, x + n * k, y);
        printf("grown %d %.17g\n", k, sum(n, y));
        free(x);
    }
    /* interior pointers, subscripts on both sides */
    double *wide = malloc(3 * n * sizeof *wide);
    for (int i = 0; i < 3 * n; i++)
        wide[i] = 3 * i % 101;
    for (int i = 0; i < n; i++)
        at[i] -= n / 2;
    gather(n, at, wide + n, y);
    printf("inside %.17g\n", sum(n, y));
    /* nobody's block, and part of what is written */
    double near[400];
    for (int i = 0; i < 400; i++)
        near[i] = i * 0.25;
    gather(n, at, near + 200, y);
    printf("stack %.17g\n", sum(n, y));
    gather(n, at, wide + n, wide + n + 3);
    printf("overlapping %.17g\n", sum(3 * n, wide));
    /* two arrays and more in one block; nothing at all */
    char *all = malloc(64 * sizeof(int) + n * sizeof(double));
    double *tail = (double *)(all + 64 * sizeof(int));
    int *count = (int *)all;
    memset(all, 0, 64 * sizeof(int));
    for (int i = 0; i < n; i++)
        tail[i] = i;
    tally(n, key, count);
    for (int i = 0; i < n; i++)
        at[i] += n / 2;
    gather(n, at, tail, y);
    gather(0, NULL, NULL, NULL);
    gather(0, at, malloc(0), y);
    printf("shared %d %d %.17g %.17g\n", count[0], count[12], tail[5], sum(n, y));
    /* structs, and a static table */
    struct atom *atoms = malloc(n * sizeof *atoms);
    for (int i = 0; i < n; i++) {
        atoms[i].r[0] = i * 0.75;
        atoms[i].r[1] = atoms[i].r[2] = 0;
        atoms[i].kind = i % 3;
    }
    kick(n, at, atoms, masses, f);
    printf("atoms %.17g\n", sum(n, f));
    /* rows of one block in any order, then moved, then from several blocks */
    double **table = malloc(13 * sizeof *table), *block = malloc(13 * 40 * sizeof *block);
    int *bin = malloc(n * sizeof *bin);
    for (int i = 0; i < 13 * 40; i++)
        block[i] = i * 1.5;
    for (int r = 0; r < 13; r++)
        table[r] = block + r * 5 % 13 * 40;
    for (int i = 0; i < n; i++)
        bin[i] = i % 40;
    lookup(n, key, bin, table, y);
    printf("rows %.17g\n", sum(n, y));
    table[3] = block + 7;
    lookup(n, key, bin, table, y);
    printf("moved %.17g\n", sum(n, y));
    double *extra = malloc(40 * sizeof *extra);
    for (int i = 0; i < 40; i++)
        extra[i] = -i;
    table[4] = extra;
    lookup(n, key, bin, table, y);
    printf("apart %.17g\n", sum(n, y));
    return 0;
}
