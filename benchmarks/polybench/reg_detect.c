/* Detection of regions in a grid: the tangents of every grid point, repeated along a line of `length` samples, are
 * summed to a mean; path adds the means along the diagonals of the grid.
 */
#define SUITE_DEFAULT_INT
#include "suite.h"

#ifndef NITER
#define NITER SUITE_PICK(10, 100, 300, 1000, 10000)
#endif
#ifndef LENGTH
#define LENGTH SUITE_PICK(32, 50, 120, 500, 500)
#endif
#ifndef MAXGRID
#define MAXGRID SUITE_PICK(6, 6, 6, 12, 12)
#endif
#define BOUND_NITER SUITE_BOUND(NITER, niter)
#define BOUND_LENGTH SUITE_BOUND(LENGTH, length)
#define BOUND_MAXGRID SUITE_BOUND(MAXGRID, maxgrid)

static void initialize(int maxgrid, DATA_TYPE SUITE_2D(sum_tang, MAXGRID, MAXGRID, maxgrid, maxgrid),
                       DATA_TYPE SUITE_2D(mean, MAXGRID, MAXGRID, maxgrid, maxgrid),
                       DATA_TYPE SUITE_2D(path, MAXGRID, MAXGRID, maxgrid, maxgrid))
{
    int i, j;

    for (i = 0; i < maxgrid; i++)
        for (j = 0; j < maxgrid; j++) {
            sum_tang[i][j] = (i + 1) * (j + 2) % 13 + 1;
            mean[i][j] = (i + 2 * j) % 5 + 1;
            path[i][j] = (3 * i + j) % 7 + 1;
        }
}

static void kernel_reg_detect(int niter, int maxgrid, int length,
                              DATA_TYPE SUITE_2D(sum_tang, MAXGRID, MAXGRID, maxgrid, maxgrid),
                              DATA_TYPE SUITE_2D(mean, MAXGRID, MAXGRID, maxgrid, maxgrid),
                              DATA_TYPE SUITE_2D(path, MAXGRID, MAXGRID, maxgrid, maxgrid),
                              DATA_TYPE SUITE_3D(diff, MAXGRID, MAXGRID, LENGTH, maxgrid, maxgrid, length),
                              DATA_TYPE SUITE_3D(sum_diff, MAXGRID, MAXGRID, LENGTH, maxgrid, maxgrid, length))
{
    int t, i, j, cnt;

#pragma scop
    for (t = 0; t < BOUND_NITER; t++) {
        for (j = 0; j <= BOUND_MAXGRID - 1; j++)
            for (i = j; i <= BOUND_MAXGRID - 1; i++)
                for (cnt = 0; cnt <= BOUND_LENGTH - 1; cnt++)
                    diff[j][i][cnt] = sum_tang[j][i];

        for (j = 0; j <= BOUND_MAXGRID - 1; j++)
            for (i = j; i <= BOUND_MAXGRID - 1; i++) {
                sum_diff[j][i][0] = diff[j][i][0];
                for (cnt = 1; cnt <= BOUND_LENGTH - 1; cnt++)
                    sum_diff[j][i][cnt] = sum_diff[j][i][cnt - 1] + diff[j][i][cnt];
                mean[j][i] = sum_diff[j][i][BOUND_LENGTH - 1];
            }

        for (i = 0; i <= BOUND_MAXGRID - 1; i++)
            path[0][i] = mean[0][i];

        for (j = 1; j <= BOUND_MAXGRID - 1; j++)
            for (i = j; i <= BOUND_MAXGRID - 1; i++)
                path[j][i] = path[j - 1][i - 1] + mean[j][i];
    }
#pragma endscop
}

static void print(int maxgrid, DATA_TYPE SUITE_2D(path, MAXGRID, MAXGRID, maxgrid, maxgrid))
{
    Digest digest = digest_begin("path");

    for (int i = 0; i < maxgrid; i++)
        for (int j = 0; j < maxgrid; j++)
            digest_put(&digest, path[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int niter = NITER, maxgrid = MAXGRID, length = LENGTH;
    SUITE_NEW_2D(sum_tang, DATA_TYPE, MAXGRID, MAXGRID, maxgrid, maxgrid);
    SUITE_NEW_2D(mean, DATA_TYPE, MAXGRID, MAXGRID, maxgrid, maxgrid);
    SUITE_NEW_2D(path, DATA_TYPE, MAXGRID, MAXGRID, maxgrid, maxgrid);
    SUITE_NEW_3D(diff, DATA_TYPE, MAXGRID, MAXGRID, LENGTH, maxgrid, maxgrid, length);
    SUITE_NEW_3D(sum_diff, DATA_TYPE, MAXGRID, MAXGRID, LENGTH, maxgrid, maxgrid, length);

    initialize(maxgrid, SUITE_ARRAY(sum_tang), SUITE_ARRAY(mean), SUITE_ARRAY(path));
    kernel_reg_detect(niter, maxgrid, length, SUITE_ARRAY(sum_tang), SUITE_ARRAY(mean), SUITE_ARRAY(path),
                      SUITE_ARRAY(diff), SUITE_ARRAY(sum_diff));
    print(maxgrid, SUITE_ARRAY(path));

    free(sum_tang);
    free(mean);
    free(path);
    free(diff);
    free(sum_diff);
    return 0;
}
