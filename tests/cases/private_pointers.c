/* Pointers that every thread has for itself lead to arrays: what is stored through them comes back to the host.
 * RUN: port
 * EXPECT: forces/l parallel ported: taken from #pragma omp parallel for private(i, j, mine, theirs, sums) in line 24, which could not be proved
 * EXPECT: forces/l/i parallel ported: no carried dependence (if what is touched of mine and of sums does not overlap; what is touched of other and of sums does not overlap; what is touched of q and of sums does not overlap; what is touched of start and of sums does not overlap; what is touched of sums and of theirs does not overlap)
 * EXPECT: forces/l/i/j sequential ported: carries a flow dependence on sums
 * EXPECT: main/l parallel ported: no carried dependence (proven)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

enum { BOXES = 6, PER = 8 };
typedef struct {
    double v, x;
} point;

static void forces(int boxes, const int *start, const int *other, const point *in, const double *q, point *out)
{
    int l, i, j;
    const point *mine, *theirs;
    point *sums;
#pragma omp parallel for private(i, j, mine, theirs, sums)
    for (l = 0; l < boxes; l++) {
        mine = &in[start[l]];
        theirs = &in[start[other[l]]];
        sums = &out[start[l]];
        for (i = 0; i < PER; i++)
            for (j = 0; j < PER; j++) {
                sums[i].v += q[start[other[l]] + j] * (mine[i].v + theirs[j].v);
                sums[i].x += q[start[other[l]] + j] * (mine[i].x - theirs[j].x);
            }
    }
}

int main(void)
{
    int *first = malloc(BOXES * sizeof *first), *next = malloc(BOXES * sizeof *next);
    double *charge = malloc(BOXES * PER * sizeof *charge);
    point *at = malloc(BOXES * PER * sizeof *at), *force = malloc(BOXES * PER * sizeof *force);
    for (int l = 0; l < BOXES; l++) {
        first[l] = l * PER;
        next[l] = (l + 1) % BOXES;
    }
    for (int i = 0; i < BOXES * PER; i++) {
        at[i].v = 0.5 * i;
        at[i].x = i;
        force[i].v = force[i].x = 0;
        charge[i] = 1.0 / (1 + i);
    }
    forces(BOXES, first, next, at, charge, force);
    for (int i = 0; i < BOXES * PER; i++)
        printf("%.9g %.9g\n", force[i].v, force[i].x);
    return 0;
}
