/* Points go to the nearest of some centers, which then move to the middle of theirs: what a called function needs in its
   own text must not keep it from its caller's kernel. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int nearest(const float *point, int size, float **centers, int count)
{
    int best = 0;
    float least = 1e30f;
    for (int c = 0; c < count; c++) {
        float sum = 0;
        for (int j = 0; j < size; j++)
            sum += (point[j] - centers[c][j]) * (point[j] - centers[c][j]);
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    return best;
}
static float **table(int rows, int size)
{
    float **made = malloc(rows * sizeof *made);
    made[0] = calloc(rows * size, sizeof(float));
    for (int i = 1; i < rows; i++)
        made[i] = made[i - 1] + size;
    return made;
}
static void group(float **points, int many, int size, float **centers, int count, int *member)
{
    int threads = omp_get_max_threads(), *total = calloc(count, sizeof(int)), **sizes = malloc(threads * sizeof *sizes);
    float changed, **next = table(count, size), ***sums = malloc(threads * sizeof *sums);
    for (int t = 0; t < threads; t++) {
        sizes[t] = calloc(count, sizeof(int));
        sums[t] = malloc(count * sizeof **sums);
        for (int c = 0; c < count; c++)
            sums[t][c] = calloc(size, sizeof(float));
    }
    do {
        changed = 0;
#pragma omp parallel
        {
            int me = omp_get_thread_num();
#pragma omp for schedule(static) reduction(+ : changed)
            for (int i = 0; i < many; i++) {
                int found = nearest(points[i], size, centers, count);
                if (member[i] != found)
                    changed += 1;
                member[i] = found;
                sizes[me][found]++;
                for (int j = 0; j < size; j++)
                    sums[me][found][j] += points[i][j];
            }
        }
        for (int c = 0; c < count; c++) {
            for (int t = 0; t < threads; t++) {
                total[c] += sizes[t][c];
                sizes[t][c] = 0;
                for (int j = 0; j < size; j++) {
                    next[c][j] += sums[t][c][j];
                    sums[t][c][j] = 0;
                }
            }
        }
        for (int c = 0; c < count; c++) {
            for (int j = 0; j < size; j++) {
                if (total[c] > 0)
                    centers[c][j] = next[c][j] / total[c];
                next[c][j] = 0;
            }
            total[c] = 0;
        }
    } while (changed > 2);
}
int main(void)
{
    int many = 200, size = 6, count = 5, *member = malloc(many * sizeof(int));
    float **points = table(many, size), **centers = table(count, size);
    for (int i = 0; i < many; i++) {
        member[i] = -1;
        for (int j = 0; j < size; j++)
            points[i][j] = (i * 7 + j * 3) % 11;
    }
    for (int c = 0; c < count; c++)
        for (int j = 0; j < size; j++)
            centers[c][j] = c * 2 + j * 0.1f;
    group(points, many, size, centers, count, member);
    long sum = 0;
    for (int i = 0; i < many; i++)
        sum += member[i] * (i % 13);
    printf("%ld\n", sum);
    return 0;
}
