/* A step on an outlined loop would need a guard that speaks of the new function's parameters: nothing can test it where
 * the user's loops would have to run instead, so the step is not taken.
 * RUN: port --transform outline=f/i,function=all
 * EXPECT: f/i sequential host: carries a flow dependence on a
 * EXPECT: main/i unanalyzable host: printf writes output
 */
#include <stdio.h>
void f(int n, double *a, double *b, double *c)
{
    for (int i = 1; i < n; i++) {
        a[i] = a[i - 1] * a[i - 1] + b[i];
        c[i] = a[i] + b[i];
    }
}
int main(void)
{
    double x[24] = {1, 0, 2, 1, 0, 1, 1, 0, 0, 1, 2, 0, 1};
    f(8, x, x + 8, x + 16);
    f(8, x, x + 8, x + 7);
    f(8, x, x + 1, x + 16);
    for (int i = 0; i < 24; i++)
        printf("%g\n", x[i]);
    return 0;
}
