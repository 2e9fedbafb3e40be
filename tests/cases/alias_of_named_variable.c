/* The host uses variables by name between two kernels: the pointers may point to them.
 * RUN: port
 * EXPECT: add/i parallel ported: no carried dependence (proven)
 * EXPECT: add/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: renew/i parallel ported: no carried dependence (proven)
 * EXPECT: renew/i#2 parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
struct totals { int all, parts[4]; } totals;
int count;
void add(int n, int *a, int *restrict b)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 1;
    totals.all += 5;
    for (int i = 0; i < n; i++)
        b[i] += a[i];
}
void renew(int n, int *a, int *restrict b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1;
    b[0] = totals.all + count;
    count = 7;
    for (int i = 0; i < n; i++)
        a[i] += b[i];
}
int main(void)
{
    int x[5] = {1, 2, 3, 4, 5};
    add(1, &totals.all, x);
    renew(1, &count, x);
    renew(1, &totals.all, x);
    printf("%d %d %d %d\n", x[0], x[4], totals.all, count);
    return 0;
}
