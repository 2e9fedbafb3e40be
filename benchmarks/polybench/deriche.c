/* Deriche's recursive smoothing of a w by h image: along each row forward (y1) and backward (y2), then along each
 * column. The coefficients are those of the smoothing filter (Deriche: Fast algorithms for low-level vision, 1990).
 */
#define SUITE_DEFAULT_FLOAT
#include "suite.h"

#ifndef W
#define W SUITE_PICK(64, 192, 720, 4096, 7680)
#endif
#ifndef H
#define H SUITE_PICK(64, 128, 480, 2160, 4320)
#endif
#define BOUND_W SUITE_BOUND(W, w)
#define BOUND_H SUITE_BOUND(H, h)

static void initialize(int w, int h, DATA_TYPE SUITE_2D(imgIn, W, H, w, h))
{
    int i, j;

    for (i = 0; i < w; i++)
        for (j = 0; j < h; j++)
            imgIn[i][j] = (DATA_TYPE)((31 * i + 17 * j) % 251 + 1) / SCALAR(251.0);
}

static void kernel_deriche(int w, int h, DATA_TYPE alpha, DATA_TYPE SUITE_2D(imgIn, W, H, w, h),
                           DATA_TYPE SUITE_2D(imgOut, W, H, w, h), DATA_TYPE SUITE_2D(y1, W, H, w, h),
                           DATA_TYPE SUITE_2D(y2, W, H, w, h))
{
    int i, j;
    DATA_TYPE xm1, tm1, ym1, ym2;
    DATA_TYPE xp1, xp2, tp1, tp2, yp1, yp2;
    DATA_TYPE k, decay, a1, a2, a3, a4, b1, b2;

#pragma scop
    decay = EXP(-alpha);
    k = (SCALAR(1.0) - decay) * (SCALAR(1.0) - decay) /
        (SCALAR(1.0) + SCALAR(2.0) * alpha * decay - EXP(SCALAR(-2.0) * alpha));
    a1 = k;
    a2 = k * decay * (alpha - SCALAR(1.0));
    a3 = k * decay * (alpha + SCALAR(1.0));
    a4 = -k * EXP(SCALAR(-2.0) * alpha);
    b1 = SCALAR(2.0) * decay;
    b2 = -EXP(SCALAR(-2.0) * alpha);

    for (i = 0; i < BOUND_W; i++) {
        ym1 = SCALAR(0.0);
        ym2 = SCALAR(0.0);
        xm1 = SCALAR(0.0);
        for (j = 0; j < BOUND_H; j++) {
            y1[i][j] = a1 * imgIn[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            xm1 = imgIn[i][j];
            ym2 = ym1;
            ym1 = y1[i][j];
        }
    }

    for (i = 0; i < BOUND_W; i++) {
        yp1 = SCALAR(0.0);
        yp2 = SCALAR(0.0);
        xp1 = SCALAR(0.0);
        xp2 = SCALAR(0.0);
        for (j = BOUND_H - 1; j >= 0; j--) {
            y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            xp2 = xp1;
            xp1 = imgIn[i][j];
            yp2 = yp1;
            yp1 = y2[i][j];
        }
    }

    for (i = 0; i < BOUND_W; i++)
        for (j = 0; j < BOUND_H; j++)
            imgOut[i][j] = y1[i][j] + y2[i][j];

    for (j = 0; j < BOUND_H; j++) {
        tm1 = SCALAR(0.0);
        ym1 = SCALAR(0.0);
        ym2 = SCALAR(0.0);
        for (i = 0; i < BOUND_W; i++) {
            y1[i][j] = a1 * imgOut[i][j] + a2 * tm1 + b1 * ym1 + b2 * ym2;
            tm1 = imgOut[i][j];
            ym2 = ym1;
            ym1 = y1[i][j];
        }
    }

    for (j = 0; j < BOUND_H; j++) {
        tp1 = SCALAR(0.0);
        tp2 = SCALAR(0.0);
        yp1 = SCALAR(0.0);
        yp2 = SCALAR(0.0);
        for (i = BOUND_W - 1; i >= 0; i--) {
            y2[i][j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2;
            tp2 = tp1;
            tp1 = imgOut[i][j];
            yp2 = yp1;
            yp1 = y2[i][j];
        }
    }

    for (i = 0; i < BOUND_W; i++)
        for (j = 0; j < BOUND_H; j++)
            imgOut[i][j] = y1[i][j] + y2[i][j];
#pragma endscop
}

static void print(int w, int h, DATA_TYPE SUITE_2D(imgOut, W, H, w, h))
{
    Digest digest = digest_begin("imgOut");

    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            digest_put(&digest, imgOut[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int w = W, h = H;
    SUITE_NEW_2D(imgIn, DATA_TYPE, W, H, w, h);
    SUITE_NEW_2D(imgOut, DATA_TYPE, W, H, w, h);
    SUITE_NEW_2D(y1, DATA_TYPE, W, H, w, h);
    SUITE_NEW_2D(y2, DATA_TYPE, W, H, w, h);

    initialize(w, h, SUITE_ARRAY(imgIn));
    kernel_deriche(w, h, SCALAR(0.25), SUITE_ARRAY(imgIn), SUITE_ARRAY(imgOut), SUITE_ARRAY(y1), SUITE_ARRAY(y2));
    print(w, h, SUITE_ARRAY(imgOut));

    free(imgIn);
    free(imgOut);
    free(y1);
    free(y2);
    return 0;
}
