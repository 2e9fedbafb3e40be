/* Each loop has one construct that cannot be ported; the last loop has none.
 * RUN: port --verify off
 * EXPECT: constructs/i unanalyzable host: a construct that is not modelled: goto
 * EXPECT: constructs/i#2 unanalyzable host: fibonacci is recursive
 * EXPECT: constructs/i#3 unanalyzable host: printf writes output
 * EXPECT: constructs/i#4 unanalyzable host: calls f, a function pointer
 * EXPECT: constructs/i#5 unanalyzable host: calls unknown, which is not defined here
 * EXPECT: constructs/for unanalyzable host: not a counted loop: what inline assembly in the body does with its counter i is not known
 * EXPECT: constructs/for#2 unanalyzable host: not a counted loop: its counter x is a double
 * EXPECT: constructs/while unanalyzable host: not a counted loop: only running a while loop tells how often it runs
 * EXPECT: constructs/i#6 unanalyzable host: the loop may be left early by break
 * EXPECT: constructs/i#7 parallel ported: no carried dependence (proven)
 */
#include <stdio.h>

double unknown(double);
typedef double (*rule)(double);

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

void constructs(int n, double *restrict a, int *restrict c, rule f)
{
    for (int i = 0; i < n; i++)
        if (a[i] < 0.0)
            goto out;
    c[0] = 0;
out:
    for (int i = 0; i < n; i++)
        c[i] = fibonacci(i);
    for (int i = 0; i < n; i++)
        printf("%g\n", a[i]);
    for (int i = 0; i < n; i++)
        a[i] = f(a[i]);
    for (int i = 0; i < n; i++)
        a[i] = unknown(a[i]);
    for (int i = 0; i < n; i++)
        __asm__ volatile("" : "+m"(a[i]));
    for (double x = 0.0; x < n; x += 0.5)
        a[0] += x;
    while (a[0] > 1.0)
        a[0] *= 0.5;
    for (int i = 0; i < n; i++) {
        if (a[i] == 0.0)
            break;
        a[i] = 1.0 / a[i];
    }
    for (int i = 0; i < n; i++)
        a[i] += 1.0;
}
