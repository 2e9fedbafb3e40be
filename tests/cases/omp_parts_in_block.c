/* Lloyd's method: each point goes to the nearest center, and threads add up their points in parts of their own, which lie
 * in one block. One thread, and then the device, does the same.
 * RUN: port --all
 * EXPECT: nearest/g reduction host: it runs in a kernel: only kernels call nearest
 * EXPECT: nearest/g/k reduction host: it runs in a kernel: only kernels call nearest
 * EXPECT: move_centers/g sequential host: carries a flow dependence on sum
 * EXPECT: move_centers/i sequential host: carries a flow dependence on part_size
 * EXPECT: move_centers/i#2 sequential host: carries a flow dependence on part
 * EXPECT: move_centers/i#3 unanalyzable host: calloc allocates memory
 * EXPECT: move_centers/i#3/g unanalyzable host: calloc allocates memory
 * EXPECT: move_centers/i#4 reduction ported: taken from #pragma omp for private(i, j, g) schedule(static) reduction(+ : moved) in line 73, which could not be proved
 * EXPECT: move_centers/i#4/j parallel-after ported: parallel after unthread=move_centers/i#4, inline=move_centers/i#4,function=nearest, localize=move_centers/i#4, row-starts=move_centers/i#4
 * EXPECT: move_centers/g#2 unanalyzable host: part_size[j][g] may touch any element of part_size
 * EXPECT: move_centers/g#2/j unanalyzable host: part_size[j][g] may touch any element of part_size
 * EXPECT: move_centers/g#2/j/k parallel-after ported: parallel after row-starts=move_centers/g#2, localize=move_centers/g#2/j/k
 * EXPECT: move_centers/g#3 parallel-after ported: parallel after row-starts=move_centers/g#4
 * EXPECT: move_centers/g#3/j parallel-after ported: parallel after row-starts=move_centers/g#4
 * EXPECT: main/i parallel host: 'point' is a pointer to pointers: no kernel can follow them, and row-starts does not apply
 * EXPECT: main/g parallel host: 'center' is a pointer to pointers: no kernel can follow them, and row-starts does not apply
 * EXPECT: main/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2/k parallel ported: no carried dependence (proven)
 * EXPECT: main/g#2 parallel ported: no carried dependence (proven)
 * EXPECT: main/g#2/k parallel ported: no carried dependence (proven)
 * EXPECT: main/g#3 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int workers = 3;

static int nearest(const float *x, float **center, int groups, int width)
{
    int at, g, k;
    float least = 1e30f;
    for (g = 0; g < groups; g++) {
        float d = 0;
        for (k = 0; k < width; k++)
            d += (x[k] - center[g][k]) * (x[k] - center[g][k]);
        if (d < least) {
            least = d;
            at = g;
        }
    }
    return at;
}

static int move_centers(float **point, int points, float **center, int groups, int width, int *home)
{
    int i, j, k, g, many = workers, moved = 0;
    int *size = (int *)calloc(groups, sizeof(int));
    int **part_size = (int **)malloc(many * sizeof(int *));
    float **sum = (float **)malloc(groups * sizeof(float *));
    float ***part = (float ***)malloc(many * sizeof(float **));
    sum[0] = (float *)calloc(groups * width, sizeof(float));
    for (g = 1; g < groups; g++)
        sum[g] = sum[g - 1] + width;
    part_size[0] = (int *)calloc(many * groups, sizeof(int));
    for (i = 1; i < many; i++)
        part_size[i] = part_size[i - 1] + groups;
    part[0] = (float **)malloc(many * groups * sizeof(float *));
    for (i = 1; i < many; i++)
        part[i] = part[i - 1] + groups;
    for (i = 0; i < many; i++)
        for (g = 0; g < groups; g++)
            part[i][g] = (float *)calloc(width, sizeof(float));

    omp_set_num_threads(workers);
#pragma omp parallel shared(point, center, home, part, part_size)
    {
        int me = omp_get_thread_num();
#pragma omp for private(i, j, g) schedule(static) reduction(+ : moved)
        for (i = 0; i < points; i++) {
            g = nearest(point[i], center, groups, width);
            if (home[i] != g)
                moved++;
            home[i] = g;
            part_size[me][g]++;
            for (j = 0; j < width; j++)
                part[me][g][j] += point[i][j];
        }
    }
    for (g = 0; g < groups; g++)
        for (j = 0; j < many; j++) {
            size[g] += part_size[j][g];
            part_size[j][g] = 0;
            for (k = 0; k < width; k++) {
                sum[g][k] += part[j][g][k];
                part[j][g][k] = 0.0f;
            }
        }
    for (g = 0; g < groups; g++)
        for (j = 0; j < width; j++)
            if (size[g] > 0)
                center[g][j] = sum[g][j] / size[g];
    free(sum[0]);
    free(sum);
    free(size);
    return moved;
}

int main(void)
{
    enum { POINTS = 300, GROUPS = 4, WIDTH = 3 };
    float *x = (float *)malloc(POINTS * WIDTH * sizeof(float)), *c = (float *)malloc(GROUPS * WIDTH * sizeof(float));
    int *home = (int *)calloc(POINTS, sizeof(int));
    float **point = (float **)malloc(POINTS * sizeof(float *)), **center = (float **)malloc(GROUPS * sizeof(float *));
    for (int i = 0; i < POINTS; i++)
        point[i] = x + i * WIDTH;
    for (int g = 0; g < GROUPS; g++)
        center[g] = c + g * WIDTH;
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < WIDTH; k++)
            x[i * WIDTH + k] = (float)((i * 37 + k * 11) % 101);
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < WIDTH; k++)
            c[g * WIDTH + k] = x[g * 5 * WIDTH + k];
    int moved = move_centers(point, POINTS, center, GROUPS, WIDTH, home);
    for (int g = 0; g < GROUPS; g++)
        printf("%.3f %.3f %.3f\n", c[g * WIDTH], c[g * WIDTH + 1], c[g * WIDTH + 2]);
    printf("%d %d\n", moved, home[POINTS - 1]);
    return 0;
}
