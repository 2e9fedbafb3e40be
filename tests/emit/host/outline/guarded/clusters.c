/* Lloyd's algorithm: every point goes to the nearest of k centres, and every centre to the mean of its points. Each
 * thread adds up points of its own; the sums of all threads are added behind the region.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3

static double distance(const double *p, const double *q, int d)
{
    double sum = 0;
    for (int j = 0; j < d; j++)
        sum += (p[j] - q[j]) * (p[j] - q[j]);
    return sum;
}

static int nearest(const double *p, int d, double **centre, int k)
{
    int found = 0;
    double least = 1e30;
    for (int a = 0; a < k; a++) {
        double here = distance(p, centre[a], d);
        if (here < least) {
            least = here;
            found = a;
        }
    }
    return found;
}

static double **rows(int n, int d)
{
    double **row = malloc(n * sizeof *row);
    for (int i = 0; i < n; i++)
        row[i] = calloc(d, sizeof(double));
    return row;
}

static int cluster(int n, int d, int k, double **point, double **centre, int *home)
{
    int *size = calloc(k, sizeof(int)), moved, rounds = 0, at;
    double **total = rows(k, d);
    int **count = malloc(THREADS * sizeof *count);
    double ***part = malloc(THREADS * sizeof *part);
    for (int t = 0; t < THREADS; t++)
        count[t] = calloc(k, sizeof(int));
    for (int t = 0; t < THREADS; t++)
        part[t] = malloc(k * sizeof **part);
    for (int t = 0; t < THREADS; t++)
        for (int a = 0; a < k; a++)
            part[t][a] = calloc(d, sizeof(double));

    do {
        moved = 0;
#pragma omp parallel num_threads(THREADS)
        {
            int me = omp_get_thread_num();
#pragma omp for private(at) reduction(+ : moved)
            for (int i = 0; i < n; i++) {
                at = nearest(point[i], d, centre, k);
                if (home[i] != at)
                    moved++;
                home[i] = at;
                count[me][at]++;
                for (int j = 0; j < d; j++)
                    part[me][at][j] += point[i][j];
            }
        }

        for (int a = 0; a < k; a++)
            for (int t = 0; t < THREADS; t++) {
                size[a] += count[t][a];
                count[t][a] = 0;
                for (int j = 0; j < d; j++) {
                    total[a][j] += part[t][a][j];
                    part[t][a][j] = 0;
                }
            }
        for (int a = 0; a < k; a++) {
            for (int j = 0; j < d; j++) {
                if (size[a] > 0)
                    centre[a][j] = total[a][j] / size[a];
                total[a][j] = 0;
            }
            size[a] = 0;
        }
    } while (moved > 0 && rounds++ < 20);
    return rounds;
}

int main(void)
{
    int n = 61, d = 3, k = 5;
    double **point = rows(n, d), **centre = rows(k, d);
    int *home = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) {
        home[i] = -1;
        for (int j = 0; j < d; j++)
            point[i][j] = (i * 37 + j * 11) % 64;
    }
    for (int a = 0; a < k; a++)
        for (int j = 0; j < d; j++)
            centre[a][j] = point[7 * a][j];
    printf("%d\n", cluster(n, d, k, point, centre, home));
    for (int a = 0; a < k; a++)
        for (int j = 0; j < d; j++)
            printf("%.9g\n", centre[a][j]);
    return 0;
}
