/*
 * Casts to a parameter of a template, as C writes them: a kernel of an instance has the type itself.
 *
 * RUN: port --all
 * EXPECT: ramp<float>/i parallel ported: no carried dependence (proven)
 * EXPECT: ramp<float>/i#2 parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <cstdio>

template <typename T> static void ramp(T *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = (T)0;
    for (int i = 0; i < n; i++)
        a[i] += (T)i / (T)(i % 3 + 1);
}

int main()
{
    float a[100];
    double b[100];
    ramp(a, 100);
    ramp(b, 100);
    printf("%.6f %.6f\n", (double)a[5], b[7]);
    return 0;
}
