/* Cross sections as Monte Carlo codes look them up: what the program knows lies in a struct of pointers, which functions
 * hand on by value.
 * RUN: port --all
 * EXPECT: one_nuclide/l reduction ported: nothing in the program calls 'one_nuclide': its loops never run
 * EXPECT: all_nuclides/k parallel host: it runs in a kernel: only kernels call all_nuclides
 * EXPECT: all_nuclides/n reduction ported: an associative update (+: xs) is the only carried dependence
 * EXPECT: all_nuclides/n/k unanalyzable host: it runs in a kernel: only kernels call all_nuclides
 * EXPECT: make_tables/n unanalyzable host: malloc allocates memory
 * EXPECT: make_tables/n/l parallel-after ported: parallel after localize=make_tables/n, localize=make_tables/n/l, row-starts=make_tables/n/l
 * EXPECT: main/i reduction ported: an associative update (+: check) is the only carried dependence
 * EXPECT: main/i/k reduction ported: an associative update (max: most) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nuclides, lookups;
} Options;

typedef struct {
    int *n_levels, *order;
    double **levels, *weights;
} Tables;

static double one_nuclide(double energy, int nuclide, Options options, Tables tables)
{
    double sum = 0;
    for (int l = 0; l < tables.n_levels[nuclide]; l++)
        sum += tables.levels[nuclide][l] * energy;
    energy += options.nuclides;
    return sum + 1 / energy;
}

static void all_nuclides(double *xs, int material, double energy, Options options, Tables tables)
{
    for (int k = 0; k < 4; k++)
        xs[k] = 0;
    for (int n = 0; n < options.nuclides; n++) {
        double one = one_nuclide(energy, tables.order[n], options, tables);
        for (int k = 0; k < 4; k++)
            xs[k] += one * tables.weights[n] * (k + material);
    }
}

static Tables make_tables(Options options)
{
    Tables tables;
    tables.n_levels = malloc(options.nuclides * sizeof(int));
    tables.order = malloc(options.nuclides * sizeof(int));
    tables.levels = malloc(options.nuclides * sizeof(double *));
    tables.weights = malloc(options.nuclides * sizeof(double));
    for (int n = 0; n < options.nuclides; n++) {
        tables.n_levels[n] = 3 + n % 4;
        tables.order[n] = n * 5 % options.nuclides;
        tables.weights[n] = 1.0 / (n + 1);
        tables.levels[n] = malloc(tables.n_levels[n] * sizeof(double));
        for (int l = 0; l < tables.n_levels[n]; l++)
            tables.levels[n][l] = 0.125 * l + n;
    }
    return tables;
}

int main(void)
{
    Options options = {12, 3000};
    Tables tables = make_tables(options);
    double check = 0;
#pragma omp parallel for reduction(+: check)
    for (int i = 0; i < options.lookups; i++) {
        double xs[4], most = 0;
        int which = 0;
        all_nuclides(xs, i % 7, i * 0.001, options, tables);
        for (int k = 0; k < 4; k++)
            if (xs[k] > most) {
                most = xs[k];
                which = k;
            }
        check += which + 1;
    }
    printf("%.3f\n", check);
    return 0;
}
