/* A step's guard about memory that no kernel writes must be tested too: a and b may overlap, and the loop that writes a
 * stays on the host.
 * RUN: port
 * EXPECT: f/i sequential ported: carries a flow dependence on a
 * EXPECT: main/i unanalyzable host: printf writes output
 * VERIFY: undecided
 */
#include <stdio.h>
void f(int n, double *a, double *b, double *restrict c)
{
    for (int i = 2; i < n; i++) {
        a[i] = a[i - 1] * a[i - 2] + 1.0;
        c[i] = a[i] + b[i];
    }
}
int main(void)
{
    double memory[12] = {1, 1, 2, 0, 1, 0, 1, 0, 2, 0, 0, 1}, c[10] = {0};
    f(10, memory + 2, memory, c);
    f(8, memory, memory + 1, c);
    for (int i = 0; i < 10; i++)
        printf("%g %g\n", memory[i], c[i]);
    return 0;
}
