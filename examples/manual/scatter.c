/* Numbers go to places that an array names: parallel only if no place is named twice.
 *
 *     scatter [step]     7 (default): every place once; 10: places twice and more
 */
#include <stdio.h>
#include <stdlib.h>

void scatter(int n, const int *p, double *restrict target, const double *restrict source)
{
    for (int i = 0; i < n; i++)
        target[p[i]] = source[i];
}

int main(int argc, char **argv)
{
    enum { N = 1000 };
    int step = argc > 1 ? atoi(argv[1]) : 7;
    int *place = malloc(N * sizeof *place);
    double *from = malloc(N * sizeof *from), *to = calloc(N, sizeof *to);
    for (int i = 0; i < N; i++) {
        place[i] = i * step % N;
        from[i] = i;
    }
    scatter(N, place, to, from);
    printf("%g %g\n", to[0], to[N - step]);
    return 0;
}
