/* Each thread counts into a part of its own, and a loop adds up all parts: one thread, and then the device, does the same.
 * RUN: port --all
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/again sequential host: carries a flow dependence on many
 * EXPECT: main/again/i reduction ported: an associative update (+: many, +: part) is the only carried dependence
 * EXPECT: main/again/b parallel ported: no carried dependence (proven)
 * EXPECT: main/again/b/t reduction ported: an associative update (+: total, +: mass) is the only carried dependence
 * EXPECT: main/b unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <omp.h>
#include <stdio.h>

#define THREADS 4
#define BINS 32

static int many[THREADS][BINS], total[BINS];
static double part[THREADS][BINS], mass[BINS];
static int bin[3000];
static double x[3000];

int main(void)
{
    for (int i = 0; i < 3000; i++) {
        bin[i] = i * 7 % 61 % BINS;
        x[i] = 0.25 * (i % 13);
    }
    for (int again = 0; again < 2; again++) {
#pragma omp parallel num_threads(THREADS)
        {
            int me = omp_get_thread_num();
#pragma omp for schedule(static)
            for (int i = 0; i < 3000; i++) {
                many[me][bin[i]]++;
                part[me][bin[i]] += x[i];
            }
        }
        for (int b = 0; b < BINS; b++)
            for (int t = 0; t < THREADS; t++) {
                total[b] += many[t][b];
                many[t][b] = 0;
                mass[b] += part[t][b];
                part[t][b] = 0.0;
            }
    }
    for (int b = 0; b < BINS; b++)
        printf("%d %g\n", total[b], mass[b]);
    return 0;
}
