/* Dynamic programming behind pointers: two rows of a knapsack that are exchanged, diagonals of an edit distance, a table.
 * RUN: port --all
 * EXPECT: knapsack/i sequential host: carries a flow dependence on prev
 * EXPECT: knapsack/i/c parallel ported: no carried dependence (if cur and prev lie in different blocks of memory; what is touched of cur and of value does not overlap; what is touched of cur and of weight does not overlap)
 * EXPECT: distance/d sequential host: carries a flow dependence on d2
 * EXPECT: distance/d/i parallel ported: no carried dependence (if what is touched of d0 and of d2 does not overlap; what is touched of d1 and of d2 does not overlap)
 * EXPECT: common/i parallel ported: no carried dependence (if m >= 0)
 * EXPECT: common/j parallel ported: no carried dependence (proven)
 * EXPECT: common/i#2 parallel-after ported: parallel after wavefront=common/i#2,depth=2,factors=1:1
 * EXPECT: common/i#2/j parallel-after ported: parallel after wavefront=common/i#2,depth=2,factors=1:1
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: main/i#3 parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

#define ITEMS 12
#define ROOM 400
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static int weight[ITEMS], value[ITEMS];

static int least(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

static int knapsack(int *prev, int *cur)
{
    for (int i = 0; i < ITEMS; i++) {
        for (int c = 0; c <= ROOM; c++) {
            cur[c] = prev[c];
            if (c >= weight[i] && prev[c - weight[i]] + value[i] > cur[c])
                cur[c] = prev[c - weight[i]] + value[i];
        }
        int *t = prev;
        prev = cur;
        cur = t;
    }
    return prev[ROOM];
}

/* diagonal d has the cells (i, d - i) */
static int distance(int n, const char *s, int m, const char *t)
{
    int *d0 = calloc(n + 1, sizeof(int)), *d1 = calloc(n + 1, sizeof(int)), *d2 = calloc(n + 1, sizeof(int));
    if (!d0 || !d1 || !d2)
        return -1;
    for (int d = 0; d <= n + m; d++) {
        int low = d > m ? d - m : 0, high = d < n ? d : n;
        for (int i = low; i <= high; i++) {
            int j = d - i;
            if (i == 0)
                d2[i] = j;
            else if (j == 0)
                d2[i] = i;
            else
                d2[i] = least(d1[i] + 1, d1[i - 1] + 1, d0[i - 1] + (s[i - 1] != t[j - 1]));
        }
        int *oldest = d0;
        d0 = d1;
        d1 = d2;
        d2 = oldest;
    }
    int result = d1[n];
    free(d0);
    free(d1);
    free(d2);
    return result;
}

static int common(int n, const char *s, int m, const char *t, int *dp)
{
    for (int i = 0; i <= n; i++)
        dp[i * (m + 1)] = 0;
    for (int j = 0; j <= m; j++)
        dp[j] = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            if (s[i - 1] == t[j - 1])
                dp[i * (m + 1) + j] = dp[(i - 1) * (m + 1) + j - 1] + 1;
            else
                dp[i * (m + 1) + j] = MAX(dp[(i - 1) * (m + 1) + j], dp[i * (m + 1) + j - 1]);
    return dp[n * (m + 1) + m];
}

int main(void)
{
    int n = 50, m = 40;
    int *a = calloc(ROOM + 1, sizeof *a), *b = calloc(ROOM + 1, sizeof *b), *dp = malloc((n + 1) * (m + 1) * sizeof *dp);
    char *s = malloc(n), *t = malloc(m);
    if (!a || !b || !dp || !s || !t)
        return 1;
    for (int i = 0; i < ITEMS; i++) {
        weight[i] = i * 7 % 23 + 3;
        value[i] = i * 13 % 31 + 1;
    }
    for (int i = 0; i < n; i++)
        s[i] = 'a' + i * 7 % 5;
    for (int i = 0; i < m; i++)
        t[i] = 'a' + i * 11 % 6;
    printf("%d %d %d\n", knapsack(a, b), distance(n, s, m, t), common(n, s, m, t, dp));
    free(a);
    free(b);
    free(dp);
    free(s);
    free(t);
    return 0;
}
