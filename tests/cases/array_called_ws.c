/*
 * An array that has the name which ports put before their own ones: its copy on the device is no state of theirs.
 *
 * RUN: port --all
 * EXPECT: relax/i parallel ported: no carried dependence (proven)
 * EXPECT: relax/k unanalyzable host: printf writes output
 * EXPECT: relax/k/i parallel ported: no carried dependence (proven)
 * EXPECT: relax/k/i#2 parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>

static double ws[100], us[100];

static void relax(void)
{
    for (int i = 0; i < 100; i++)
        ws[i] = 2 * i;
    for (int k = 0; k < 10; k++) {
        printf("%d\n", k);
        for (int i = 0; i < 100; i++)
            us[i] = ws[i] + k;
        for (int i = 0; i < 100; i++)
            ws[i] = us[i] + 1;
    }
}

int main(void)
{
    relax();
    printf("%f\n", ws[5]);
    return 0;
}
