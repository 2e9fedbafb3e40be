/* Subscripts that are data: how much of an array a loop uses is only known to the block of memory that it lies in.
 *
 *     gather [own]     1: the table's rows are allocations of their own, each of which is copied
 */
#include <stdio.h>
#include <stdlib.h>

struct body { double mass, charge; };

/* a gather from structs */
void weigh(int n, const int *which, const struct body *bodies, double *weight)
{
    for (int i = 0; i < n; i++)
        weight[i] = bodies[which[i]].mass * 9.81;
}

/* a histogram */
void tally(int n, const int *which, int *count)
{
    for (int i = 0; i < n; i++)
        count[which[i] % 16]++;
}

/* rows of a table, chosen by data */
void look_up(int n, const int *which, double **table, double *weight)
{
    for (int i = 0; i < n; i++)
        weight[i] += table[which[i] % 8][i % 32];
}

int main(int argc, char **argv)
{
    enum { N = 4000, BODIES = 500 };
    int own = argc > 1 && atoi(argv[1]);
    int *which = malloc(N * sizeof *which), *count = calloc(16, sizeof *count);
    struct body *bodies = malloc(BODIES * sizeof *bodies);
    double *weight = malloc(N * sizeof *weight), *block = malloc(8 * 32 * sizeof *block), **table = malloc(8 * sizeof *table);

    for (int i = 0; i < N; i++)
        which[i] = (i * 37 + 5) % BODIES;
    for (int i = 0; i < BODIES; i++)
        bodies[i].mass = 1.0 + i, bodies[i].charge = -i;
    for (int r = 0; r < 8; r++) {
        table[r] = own ? malloc(32 * sizeof *block) : block + (r * 5 % 8) * 32;
        for (int k = 0; k < 32; k++)
            table[r][k] = r + k * 0.125;
    }
    weigh(N, which, bodies, weight);
    tally(N, which, count);
    look_up(N, which, table, weight);

    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += weight[i];
    printf("sum = %.15g, count[3] = %d\n", sum, count[3]);
    return 0;
}
