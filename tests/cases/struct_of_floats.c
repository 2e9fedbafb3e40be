/* A struct of floats holds what a sum in another order has changed in its last bits: that is no difference.
 * RUN: port
 * EXPECT: scale/i reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: scale/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>

struct cell {
    float speed[2];
    float density;
};

static float weights[5000];
static struct cell cells[64];

static void scale(int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += weights[i];
    for (int i = 0; i < 64; i++) {
        cells[i].speed[0] = sum * 0.3f;
        cells[i].speed[1] = sum * i;
        cells[i].density = 1.0f / sum;
    }
}

int main(void)
{
    for (int i = 0; i < 5000; i++)
        weights[i] = 0.1f + (i * 37 % 1013) * 0.013f;
    scale(5000);
    printf("%.2g %.2g\n", cells[5].speed[1], cells[7].density);
    return 0;
}
