/* Smoothing of a volume whose planes are tables of rows: threads share the planes, each with two rows of its own for what
 * neighbors have in common. One thread goes through the planes instead, and each plane is a kernel.
 * RUN: port --all
 * EXPECT: make_volume/p unanalyzable host: malloc allocates memory
 * EXPECT: make_volume/p/r unanalyzable host: malloc allocates memory
 * EXPECT: smooth/p sequential host: carries a flow dependence on edges
 * EXPECT: smooth/p/r parallel-after ported: parallel after unthread=smooth/p, localize=smooth/p/r, row-starts=smooth/p/r, privatize=smooth/p,variable=edges, privatize=smooth/p,variable=corners, expand=smooth/p/r,variable=edges, expand=smooth/p/r,variable=corners
 * EXPECT: smooth/p/r/c parallel-after ported: parallel after unthread=smooth/p, localize=smooth/p/r, row-starts=smooth/p/r, privatize=smooth/p,variable=edges, privatize=smooth/p,variable=corners, expand=smooth/p/r,variable=edges, expand=smooth/p/r,variable=corners
 * EXPECT: smooth/p/r/c#2 parallel-after ported: parallel after unthread=smooth/p, localize=smooth/p/r, row-starts=smooth/p/r, privatize=smooth/p,variable=edges, privatize=smooth/p,variable=corners, expand=smooth/p/r,variable=edges, expand=smooth/p/r,variable=corners
 * EXPECT: total/p reduction host: 'v' is a pointer to pointers: no kernel can follow them, and row-starts does not apply
 * EXPECT: total/p/r reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: total/p/r/c reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/p unanalyzable host: next[p][r][c] may touch any element of next
 * EXPECT: main/p/r parallel-after ported: parallel after localize=main/p/r, row-starts=main/p/r
 * EXPECT: main/p/r/c parallel-after ported: parallel after localize=main/p/r, row-starts=main/p/r
 * EXPECT: main/step unanalyzable host: smooth(next, v, planes, rows, columns, 0.5) may touch any part of v
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 32 };

static double ***make_volume(int planes, int rows, int columns)
{
    double ***v = malloc(planes * sizeof *v);
    for (int p = 0; p < planes; p++) {
        v[p] = malloc(rows * sizeof *v[p]);
        for (int r = 0; r < rows; r++)
            v[p][r] = malloc(columns * sizeof *v[p][r]);
    }
    return v;
}

static void smooth(double ***next, double ***v, int planes, int rows, int columns, double weight)
{
    int p, r, c;
    double edges[LONGEST], corners[LONGEST];
#pragma omp parallel for default(shared) private(p, r, c, edges, corners)
    for (p = 1; p < planes - 1; p++)
        for (r = 1; r < rows - 1; r++) {
            for (c = 0; c < columns; c++) {
                edges[c] = v[p - 1][r][c] + v[p + 1][r][c] + v[p][r - 1][c] + v[p][r + 1][c];
                corners[c] = v[p - 1][r - 1][c] + v[p - 1][r + 1][c] + v[p + 1][r - 1][c] + v[p + 1][r + 1][c];
            }
            for (c = 1; c < columns - 1; c++)
                next[p][r][c] = (1 - weight) * v[p][r][c]
                    + weight * (edges[c] + corners[c - 1] + corners[c + 1] + v[p][r][c - 1] + v[p][r][c + 1]) / 14;
        }
}

static double total(double ***v, int planes, int rows, int columns)
{
    double sum = 0;
    int p, r, c;
#pragma omp parallel for private(r, c) reduction(+: sum)
    for (p = 0; p < planes; p++)
        for (r = 0; r < rows; r++)
            for (c = 0; c < columns; c++)
                sum += v[p][r][c];
    return sum;
}

int main(void)
{
    int planes = 10, rows = 12, columns = LONGEST;
    double ***v = make_volume(planes, rows, columns), ***next = make_volume(planes, rows, columns);
    for (int p = 0; p < planes; p++)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++)
                v[p][r][c] = next[p][r][c] = (p * 7 + r * 3 + c) % 11;
    for (int step = 0; step < 2; step++) {
        smooth(next, v, planes, rows, columns, 0.5);
        smooth(v, next, planes, rows, columns, 0.25);
    }
    printf("%.9e\n", total(v, planes, rows, columns));
    return 0;
}
