/* What separates a fraction is a matter of the locale: device code knows one of them only.
 * RUN: port --all
 * EXPECT: main/i unanalyzable host: memcpy(text + i * LENGTH, line, LENGTH) may touch any part of text
 * EXPECT: main/i#2 parallel host: calls atoi, which does not exist on the device
 * EXPECT: main/i#3 reduction ported: an associative update (+: sum) is the only carried dependence
 * VERIFY: pass
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 500
#define LENGTH 24

static char text[RECORDS * LENGTH];
static double x[RECORDS];
static long number[RECORDS];

int main(void)
{
    int i;
    const char *record;
    double sum = 0.0;
    setlocale(LC_ALL, "");
    for (i = 0; i < RECORDS; i++) {
        char line[64];
        memset(line, 0, sizeof line);
        snprintf(line, sizeof line, "%5d %.9e", i * 37 % 1000 - 500, (i % 41 - 20) * 1.37e-5 / (i + 1));
        memcpy(text + i * LENGTH, line, LENGTH);
    }
#pragma omp parallel for private(i, record) shared(text, x, number)
    for (i = 0; i < RECORDS; i++) {
        record = text + i * LENGTH;
        number[i] = atoi(record);
        x[i] = fabs(atof(record + 5));
    }
#pragma omp barrier
    for (i = 0; i < RECORDS; i++)
        sum += x[i] * number[i];
    printf("%.6e\n", sum);
    return 0;
}
