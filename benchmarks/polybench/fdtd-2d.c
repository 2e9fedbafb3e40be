/* Maxwell's equations in the plane by finite differences in time (Yee): the electric field ex, ey and the magnetic
 * field hz in turn; _fict_[t] drives the edge ey[0].
 */
#include "suite.h"

#ifndef TMAX
#define TMAX SUITE_PICK(20, 40, 100, 500, 1000)
#endif
#ifndef NX
#define NX SUITE_PICK(20, 60, 200, 1000, 2000)
#endif
#ifndef NY
#define NY SUITE_PICK(30, 80, 240, 1200, 2600)
#endif
#define BOUND_TMAX SUITE_BOUND(TMAX, tmax)
#define BOUND_NX SUITE_BOUND(NX, nx)
#define BOUND_NY SUITE_BOUND(NY, ny)

static void initialize(int tmax, int nx, int ny, DATA_TYPE SUITE_2D(ex, NX, NY, nx, ny),
                       DATA_TYPE SUITE_2D(ey, NX, NY, nx, ny), DATA_TYPE SUITE_2D(hz, NX, NY, nx, ny),
                       DATA_TYPE SUITE_1D(_fict_, TMAX, tmax))
{
    int i, j;

    for (i = 0; i < tmax; i++)
        _fict_[i] = SCALAR(1.0) + (DATA_TYPE)(i % 9) / SCALAR(9.0);
    for (i = 0; i < nx; i++)
        for (j = 0; j < ny; j++) {
            ex[i][j] = (DATA_TYPE)((i + 2 * j) % 7 + 1) / SCALAR(7.0);
            ey[i][j] = (DATA_TYPE)((3 * i + j) % 11 + 1) / SCALAR(11.0);
            hz[i][j] = (DATA_TYPE)((i + 5 * j) % 13 + 1) / SCALAR(13.0);
        }
}

static void kernel_fdtd_2d(int tmax, int nx, int ny, DATA_TYPE SUITE_2D(ex, NX, NY, nx, ny),
                           DATA_TYPE SUITE_2D(ey, NX, NY, nx, ny), DATA_TYPE SUITE_2D(hz, NX, NY, nx, ny),
                           DATA_TYPE SUITE_1D(_fict_, TMAX, tmax))
{
    int t, i, j;

#pragma scop
    for (t = 0; t < BOUND_TMAX; t++) {
        for (j = 0; j < BOUND_NY; j++)
            ey[0][j] = _fict_[t];
        for (i = 1; i < BOUND_NX; i++)
            for (j = 0; j < BOUND_NY; j++)
                ey[i][j] = ey[i][j] - SCALAR(0.5) * (hz[i][j] - hz[i - 1][j]);
        for (i = 0; i < BOUND_NX; i++)
            for (j = 1; j < BOUND_NY; j++)
                ex[i][j] = ex[i][j] - SCALAR(0.5) * (hz[i][j] - hz[i][j - 1]);
        for (i = 0; i < BOUND_NX - 1; i++)
            for (j = 0; j < BOUND_NY - 1; j++)
                hz[i][j] = hz[i][j] - SCALAR(0.7) * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
#pragma endscop
}

static void print(int nx, int ny, DATA_TYPE SUITE_2D(ex, NX, NY, nx, ny), DATA_TYPE SUITE_2D(ey, NX, NY, nx, ny),
                  DATA_TYPE SUITE_2D(hz, NX, NY, nx, ny))
{
    Digest digest = digest_begin("ex, ey, hz");

    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++) {
            digest_put(&digest, ex[i][j]);
            digest_put(&digest, ey[i][j]);
            digest_put(&digest, hz[i][j]);
        }
    digest_end(&digest);
}

int main(void)
{
    int tmax = TMAX, nx = NX, ny = NY;
    SUITE_NEW_2D(ex, DATA_TYPE, NX, NY, nx, ny);
    SUITE_NEW_2D(ey, DATA_TYPE, NX, NY, nx, ny);
    SUITE_NEW_2D(hz, DATA_TYPE, NX, NY, nx, ny);
    SUITE_NEW_1D(_fict_, DATA_TYPE, TMAX, tmax);

    initialize(tmax, nx, ny, SUITE_ARRAY(ex), SUITE_ARRAY(ey), SUITE_ARRAY(hz), SUITE_ARRAY(_fict_));
    kernel_fdtd_2d(tmax, nx, ny, SUITE_ARRAY(ex), SUITE_ARRAY(ey), SUITE_ARRAY(hz), SUITE_ARRAY(_fict_));
    print(nx, ny, SUITE_ARRAY(ex), SUITE_ARRAY(ey), SUITE_ARRAY(hz));

    free(ex);
    free(ey);
    free(hz);
    free(_fict_);
    return 0;
}
