/*
 * Memory that the program has allocated on the device: constructs are told by is_device_ptr, the host copies by calls
 * of the runtime. A port has it on the device between its kernels as any other memory.
 *
 * RUN: port --all
 * EXPECT: relax/i parallel ported: no carried dependence (if what is touched of from and of to does not overlap)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/round unanalyzable host: relax(n, d, e) may touch any part of d
 * EXPECT: main/i#2 reduction ported: an associative update (+: sum) is the only carried dependence
 * VERIFY: pass
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void relax(int n, const double *from, double *to)
{
#pragma omp target teams distribute parallel for is_device_ptr(from, to)
    for (int i = 1; i < n - 1; i++)
        to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}

int main(int argc, char **argv)
{
    int n = argc + 1023, device = omp_get_default_device(), host = omp_get_initial_device();
    size_t bytes = n * sizeof(double);
    double *a = malloc(bytes), sum = 0;
    double *d = omp_target_alloc(bytes, device), *e = omp_target_alloc(bytes, device);
    if (a == NULL || d == NULL || e == NULL)
        return 1;
    for (int i = 0; i < n; i++)
        a[i] = i % 17;
    omp_target_memcpy(d, a, bytes, 0, 0, device, host);
    omp_target_memcpy(e, a, bytes, 0, 0, device, host);
    for (int round = 0; round < 4; round++) {
        relax(n, d, e);
        relax(n, e, d);
    }
    omp_target_memcpy(a, d, bytes, 0, 0, host, device);
    for (int i = 0; i < n; i++)
        sum += a[i];
    printf("%.6f\n", sum);
    omp_target_free(d, device);
    omp_target_free(e, device);
    free(a);
    return 0;
}
