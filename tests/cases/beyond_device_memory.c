/* The array spans more than the device has, though few of its elements are touched.
 * RUN: port
 * EXPECT: touch/i parallel ported: no carried dependence (if n <= 18446744073441116160)
 * VERIFY: fail
 */
#include <stdio.h>
#include <stdlib.h>

void touch(size_t n, char *a)
{
    for (size_t i = 0; i < n; i += 268435456)
        a[i] = 1;
}

int main(void)
{
    size_t n = (size_t)17 << 30;
    char *a = malloc(n);
    if (a == NULL) {
        puts("no memory on the host");
        return 0;
    }
    touch(n, a);
    printf("%d\n", a[0]);
    free(a);
    return 0;
}
