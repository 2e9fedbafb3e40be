/* One step of the magnetic field Hz and its flux Bza in a box with absorbing layers (anisotropic perfectly matched),
 * from the electric field Ex, Ey. The cells within the box, the face x = cxm, and, after each row, the face y = cym
 * and its edge: clf and tmp hold curl and flux of the cell at hand of row (iz, iy).
 */
#include "suite.h"

#ifndef CZ
#define CZ SUITE_PICK(16, 64, 256, 512, 1000)
#endif
#ifndef CYM
#define CYM SUITE_PICK(14, 64, 256, 512, 1000)
#endif
#ifndef CXM
#define CXM SUITE_PICK(18, 64, 256, 512, 1000)
#endif
#define BOUND_CZ SUITE_BOUND(CZ, cz)
#define BOUND_CYM SUITE_BOUND(CYM, cym)
#define BOUND_CXM SUITE_BOUND(CXM, cxm)

static void initialize(int cz, int cxm, int cym, DATA_TYPE SUITE_2D(Ax, CZ + 1, CXM + 1, cz + 1, cxm + 1),
                       DATA_TYPE SUITE_2D(Ry, CZ + 1, CYM + 1, cz + 1, cym + 1),
                       DATA_TYPE SUITE_3D(Bza, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                       DATA_TYPE SUITE_3D(Ex, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                       DATA_TYPE SUITE_3D(Ey, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                       DATA_TYPE SUITE_3D(Hz, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                       DATA_TYPE SUITE_1D(czm, CZ + 1, cz + 1), DATA_TYPE SUITE_1D(czp, CZ + 1, cz + 1),
                       DATA_TYPE SUITE_1D(cxmh, CXM + 1, cxm + 1), DATA_TYPE SUITE_1D(cxph, CXM + 1, cxm + 1),
                       DATA_TYPE SUITE_1D(cymh, CYM + 1, cym + 1), DATA_TYPE SUITE_1D(cyph, CYM + 1, cym + 1))
{
    int i, j, k;

    for (i = 0; i <= cz; i++) {
        czm[i] = SCALAR(0.25) + (DATA_TYPE)(i % 5) / SCALAR(20.0);
        czp[i] = SCALAR(0.75) + (DATA_TYPE)(i % 7) / SCALAR(28.0);
    }
    for (i = 0; i <= cxm; i++) {
        cxmh[i] = SCALAR(0.5) + (DATA_TYPE)(i % 3) / SCALAR(12.0);
        cxph[i] = SCALAR(1.0) + (DATA_TYPE)(i % 4) / SCALAR(16.0);
    }
    for (i = 0; i <= cym; i++) {
        cymh[i] = SCALAR(0.5) + (DATA_TYPE)(i % 4) / SCALAR(16.0);
        cyph[i] = SCALAR(1.0) + (DATA_TYPE)(i % 3) / SCALAR(12.0);
    }
    for (i = 0; i <= cz; i++) {
        for (j = 0; j <= cxm; j++)
            Ax[i][j] = (DATA_TYPE)((2 * i + j) % 9 + 1) / SCALAR(9.0);
        for (j = 0; j <= cym; j++)
            Ry[i][j] = (DATA_TYPE)((i + 3 * j) % 11 + 1) / SCALAR(11.0);
        for (j = 0; j <= cym; j++)
            for (k = 0; k <= cxm; k++) {
                Bza[i][j][k] = (DATA_TYPE)((i + j + 2 * k) % 5 + 1) / SCALAR(5.0);
                Ex[i][j][k] = (DATA_TYPE)((i + 2 * j + k) % 7 + 1) / SCALAR(7.0);
                Ey[i][j][k] = (DATA_TYPE)((3 * i + j + k) % 13 + 1) / SCALAR(13.0);
                Hz[i][j][k] = (DATA_TYPE)((i + j + 5 * k) % 17 + 1) / SCALAR(17.0);
            }
    }
}

static void kernel_fdtd_apml(int cz, int cxm, int cym, DATA_TYPE mui, DATA_TYPE ch,
                             DATA_TYPE SUITE_2D(Ax, CZ + 1, CXM + 1, cz + 1, cxm + 1),
                             DATA_TYPE SUITE_2D(Ry, CZ + 1, CYM + 1, cz + 1, cym + 1),
                             DATA_TYPE SUITE_2D(clf, CZ + 1, CYM + 1, cz + 1, cym + 1),
                             DATA_TYPE SUITE_2D(tmp, CZ + 1, CYM + 1, cz + 1, cym + 1),
                             DATA_TYPE SUITE_3D(Bza, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                             DATA_TYPE SUITE_3D(Ex, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                             DATA_TYPE SUITE_3D(Ey, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                             DATA_TYPE SUITE_3D(Hz, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                             DATA_TYPE SUITE_1D(czm, CZ + 1, cz + 1), DATA_TYPE SUITE_1D(czp, CZ + 1, cz + 1),
                             DATA_TYPE SUITE_1D(cxmh, CXM + 1, cxm + 1), DATA_TYPE SUITE_1D(cxph, CXM + 1, cxm + 1),
                             DATA_TYPE SUITE_1D(cymh, CYM + 1, cym + 1), DATA_TYPE SUITE_1D(cyph, CYM + 1, cym + 1))
{
    int iz, iy, ix;

#pragma scop
    for (iz = 0; iz < BOUND_CZ; iz++)
        for (iy = 0; iy < BOUND_CYM; iy++) {
            for (ix = 0; ix < BOUND_CXM; ix++) {
                clf[iz][iy] = Ex[iz][iy][ix] - Ex[iz][iy + 1][ix] + Ey[iz][iy][ix + 1] - Ey[iz][iy][ix];
                tmp[iz][iy] = (cymh[iy] / cyph[iy]) * Bza[iz][iy][ix] - (ch / cyph[iy]) * clf[iz][iy];
                Hz[iz][iy][ix] = (cxmh[ix] / cxph[ix]) * Hz[iz][iy][ix] + (mui * czp[iz] / cxph[ix]) * tmp[iz][iy] -
                                 (mui * czm[iz] / cxph[ix]) * Bza[iz][iy][ix];
                Bza[iz][iy][ix] = tmp[iz][iy];
            }

            clf[iz][iy] = Ex[iz][iy][BOUND_CXM] - Ex[iz][iy + 1][BOUND_CXM] + Ry[iz][iy] - Ey[iz][iy][BOUND_CXM];
            tmp[iz][iy] = (cymh[iy] / cyph[iy]) * Bza[iz][iy][BOUND_CXM] - (ch / cyph[iy]) * clf[iz][iy];
            Hz[iz][iy][BOUND_CXM] = (cxmh[BOUND_CXM] / cxph[BOUND_CXM]) * Hz[iz][iy][BOUND_CXM] +
                                    (mui * czp[iz] / cxph[BOUND_CXM]) * tmp[iz][iy] -
                                    (mui * czm[iz] / cxph[BOUND_CXM]) * Bza[iz][iy][BOUND_CXM];
            Bza[iz][iy][BOUND_CXM] = tmp[iz][iy];

            for (ix = 0; ix < BOUND_CXM; ix++) {
                clf[iz][iy] = Ex[iz][BOUND_CYM][ix] - Ax[iz][ix] + Ey[iz][BOUND_CYM][ix + 1] - Ey[iz][BOUND_CYM][ix];
                tmp[iz][iy] = (cymh[BOUND_CYM] / cyph[iy]) * Bza[iz][iy][ix] - (ch / cyph[iy]) * clf[iz][iy];
                Hz[iz][BOUND_CYM][ix] = (cxmh[ix] / cxph[ix]) * Hz[iz][BOUND_CYM][ix] +
                                        (mui * czp[iz] / cxph[ix]) * tmp[iz][iy] -
                                        (mui * czm[iz] / cxph[ix]) * Bza[iz][BOUND_CYM][ix];
                Bza[iz][BOUND_CYM][ix] = tmp[iz][iy];
            }

            clf[iz][iy] = Ex[iz][BOUND_CYM][BOUND_CXM] - Ax[iz][BOUND_CXM] + Ry[iz][BOUND_CYM] -
                          Ey[iz][BOUND_CYM][BOUND_CXM];
            tmp[iz][iy] =
                (cymh[BOUND_CYM] / cyph[BOUND_CYM]) * Bza[iz][BOUND_CYM][BOUND_CXM] - (ch / cyph[BOUND_CYM]) * clf[iz][iy];
            Hz[iz][BOUND_CYM][BOUND_CXM] = (cxmh[BOUND_CXM] / cxph[BOUND_CXM]) * Hz[iz][BOUND_CYM][BOUND_CXM] +
                                           (mui * czp[iz] / cxph[BOUND_CXM]) * tmp[iz][iy] -
                                           (mui * czm[iz] / cxph[BOUND_CXM]) * Bza[iz][BOUND_CYM][BOUND_CXM];
            Bza[iz][BOUND_CYM][BOUND_CXM] = tmp[iz][iy];
        }
#pragma endscop
}

static void print(int cz, int cxm, int cym,
                  DATA_TYPE SUITE_3D(Bza, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1),
                  DATA_TYPE SUITE_3D(Hz, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1))
{
    Digest digest = digest_begin("Bza, Hz");

    for (int i = 0; i < cz; i++)
        for (int j = 0; j <= cym; j++)
            for (int k = 0; k <= cxm; k++) {
                digest_put(&digest, Bza[i][j][k]);
                digest_put(&digest, Hz[i][j][k]);
            }
    digest_end(&digest);
}

int main(void)
{
    int cz = CZ, cym = CYM, cxm = CXM;
    SUITE_NEW_2D(Ax, DATA_TYPE, CZ + 1, CXM + 1, cz + 1, cxm + 1);
    SUITE_NEW_2D(Ry, DATA_TYPE, CZ + 1, CYM + 1, cz + 1, cym + 1);
    SUITE_NEW_2D(clf, DATA_TYPE, CZ + 1, CYM + 1, cz + 1, cym + 1);
    SUITE_NEW_2D(tmp, DATA_TYPE, CZ + 1, CYM + 1, cz + 1, cym + 1);
    SUITE_NEW_3D(Bza, DATA_TYPE, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1);
    SUITE_NEW_3D(Ex, DATA_TYPE, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1);
    SUITE_NEW_3D(Ey, DATA_TYPE, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1);
    SUITE_NEW_3D(Hz, DATA_TYPE, CZ + 1, CYM + 1, CXM + 1, cz + 1, cym + 1, cxm + 1);
    SUITE_NEW_1D(czm, DATA_TYPE, CZ + 1, cz + 1);
    SUITE_NEW_1D(czp, DATA_TYPE, CZ + 1, cz + 1);
    SUITE_NEW_1D(cxmh, DATA_TYPE, CXM + 1, cxm + 1);
    SUITE_NEW_1D(cxph, DATA_TYPE, CXM + 1, cxm + 1);
    SUITE_NEW_1D(cymh, DATA_TYPE, CYM + 1, cym + 1);
    SUITE_NEW_1D(cyph, DATA_TYPE, CYM + 1, cym + 1);

    initialize(cz, cxm, cym, SUITE_ARRAY(Ax), SUITE_ARRAY(Ry), SUITE_ARRAY(Bza), SUITE_ARRAY(Ex), SUITE_ARRAY(Ey),
               SUITE_ARRAY(Hz), SUITE_ARRAY(czm), SUITE_ARRAY(czp), SUITE_ARRAY(cxmh), SUITE_ARRAY(cxph),
               SUITE_ARRAY(cymh), SUITE_ARRAY(cyph));
    kernel_fdtd_apml(cz, cxm, cym, SCALAR(0.6), SCALAR(0.4), SUITE_ARRAY(Ax), SUITE_ARRAY(Ry), SUITE_ARRAY(clf),
                     SUITE_ARRAY(tmp), SUITE_ARRAY(Bza), SUITE_ARRAY(Ex), SUITE_ARRAY(Ey), SUITE_ARRAY(Hz),
                     SUITE_ARRAY(czm), SUITE_ARRAY(czp), SUITE_ARRAY(cxmh), SUITE_ARRAY(cxph), SUITE_ARRAY(cymh),
                     SUITE_ARRAY(cyph));
    print(cz, cxm, cym, SUITE_ARRAY(Bza), SUITE_ARRAY(Hz));

    free(Ax);
    free(Ry);
    free(clf);
    free(tmp);
    free(Bza);
    free(Ex);
    free(Ey);
    free(Hz);
    free(czm);
    free(czp);
    free(cxmh);
    free(cxph);
    free(cymh);
    free(cyph);
    return 0;
}
