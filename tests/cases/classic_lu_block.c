/* LU with pivoting, one block for all rows, exchanged by a macro in main.
 * RUN: port --all
 * EXPECT: main/i parallel host: 'row' is a pointer to pointers: no kernel can follow them, and row-starts does not apply
 * EXPECT: main/i#2 parallel-after ported: parallel after row-starts=main/i#2
 * EXPECT: main/i#2/j parallel ported: no carried dependence (proven)
 * EXPECT: main/k sequential host: carries an anti dependence on row
 * EXPECT: main/k/i sequential host: may carry an anti dependence on p, under a condition that depends on data
 * EXPECT: main/k/i#2 parallel-after ported: parallel after row-starts=main/k/i#3
 * EXPECT: main/k/i#2/j parallel-after ported: parallel after row-starts=main/k/i#3
 * EXPECT: main/i#3 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

#define SWAP(T, x, y) do { T t_ = x; x = y; y = t_; } while (0)
#define ABS(x) ((x) < 0 ? -(x) : (x))

int main(void)
{
    unsigned n = 24;
    float *block = malloc(n * n * sizeof *block), **row = malloc(n * sizeof *row);
    if (!block || !row)
        return 1;
    for (unsigned i = 0; i < n; i++)
        row[i] = block + i * n;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            row[i][j] = (i * 7 + j * 13 + i * j * 5) % 31 * 0.1f + (j == (i * 5 + 3) % n ? 40.0f : 0.0f);
    for (unsigned k = 0; k < n; k++) {
        unsigned p = k;
        for (unsigned i = k + 1; i < n; i++)
            if (ABS(row[i][k]) > ABS(row[p][k]))
                p = i;
        SWAP(float *, row[k], row[p]);
        for (unsigned i = k + 1; i < n; i++) {
            float f = row[i][k] / row[k][k];
            row[i][k] = f;
            for (unsigned j = k + 1; j < n; j++)
                row[i][j] -= f * row[k][j];
        }
    }
    for (unsigned i = 0; i < n; i++)
        printf("%.3f %.3f\n", row[i][i], row[i][n - 1]);
    free(block);
    free(row);
    return 0;
}
