#include <math.h>
#include <stddef.h>

#define N 16
#define SQUARE(x) ((x) * (x))
#define PLUS(a, b) a + b

typedef double real;
typedef struct point { double x, y; int tag[3]; } point;
enum color { RED, GREEN = 4, BLUE };

static int helper(int a, int b) { return a > b ? a - b : b - a; }

double expressions(int n, double *restrict p, const point *q, real (*rows)[N])
{
    int i = 0, j = n - 1, *k = &i;
    unsigned char c = 'a';
    double sum = 0.0, table[3] = {1.0, -2.5e-3, 0x1p3};
    size_t bytes = sizeof(double) * (size_t)n + sizeof table;
    sum += PLUS(1, 2) * 3 - SQUARE(n - 1) % (5 - -2);
    sum = (i = j) ? sum * -(-sum) : i + j * (n - i) / (j | 1);
    i = (j & n) == 3 || ((i ^ 5) < (j << 2) && !(i != j)) || ~n;
    *k = *k + i++ - --j - -i, j += helper(i, (j, n));
    p[i + 1] = q->x + (*q).y + q[2].tag[i % 3] + rows[i][j];
    (*k)++;
    c ^= (unsigned char)(i >> 3 & 7u);
    sum += fabs(sqrt(sum < 0 ? -sum : sum)) + (double)(float)c + bytes + GREEN + table[1];
    k = &*k + (i - j);
    return sum;
}

int statements(int n, int *a)
{
    static const int offsets[2][2] = {{1, 2}, {3, 4}};
    int i, total = 0;
    for (i = 0; i < n; i++)
        if (a[i] > 0)
            total += a[i];
        else if (a[i] < -5) {
            total--;
            continue;
        } else
            break;
    for (unsigned u = 2; u <= 40u; u += 3) total += (int)u;
    for (long down = n; down > 0; down -= 2) { total ^= 1; }
    if (n > 3) {
        if (n > 5) total = 1;
        else total = 2;
    } else total = 3;
    while (total > 100)
        total /= 2;
    do {
        total += offsets[1][0];
    } while (total < 0 && n);
    do total++; while (total < 3);
    for (;;) { if (total++ > 50) break; }
    for (int x = 1, y = 2; x < y * 10; x *= 2, y++) total += x - y;
    switch (n % 4) {
    case 0:
    case 1:
        total += 1;
        break;
    case 2: total += 2; /* falls through */
    default:
        total = -total;
    }
    {
        int i = 3;
        total += i;
        ;
    }
    return total;
}

void pointers(int n, double **rows, void (*action)(double *, int), int vla[n][n + 1])
{
    double *(*get)(int) = NULL;
    for (int i = 0; i < n; i++) {
        action(rows[i], vla[i][0]);
        if (get) rows[i] = get(i);
    }
    return;
}
