/* Nothing says that the two pointers are distinct: the port must test it at run time.
 *
 *     overlap [shift]     0: two arrays; otherwise the destination starts `shift` elements into the source
 */
#include <stdio.h>
#include <stdlib.h>

void scale(int n, double factor, double *to, double *from)
{
    for (int i = 0; i < n; i++)
        to[i] = factor * from[i];
}

int main(int argc, char **argv)
{
    enum { SIZE = 1000 };
    int shift = argc > 1 ? atoi(argv[1]) : 0;
    double *data = malloc(3 * SIZE * sizeof(double));
    if (data == NULL || shift < 0 || shift > SIZE)
        return 1;

    for (int i = 0; i < 3 * SIZE; i++)
        data[i] = 1.0 + i % 10;

    /* with a shift of 1 each element is the one before it, scaled: a chain */
    scale(SIZE, 0.5, shift ? data + shift : data + 2 * SIZE, data);

    double sum = 0.0;
    for (int i = 0; i < 3 * SIZE; i++)
        sum += data[i];
    printf("sum = %.15g\n", sum);
    free(data);
    return 0;
}
