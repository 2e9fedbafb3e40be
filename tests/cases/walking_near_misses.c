/* Loops that look as if they walked: a search that writes, an end that moves, a pointer that steps over its end, a counter
 * that wraps around below 0, a walk with another move, one whose moves a continue leaves out.
 * RUN: port --verify off
 * EXPECT: marks/while unanalyzable host: not a counted loop: only running a while loop tells how often it runs
 * EXPECT: shrinks/for unanalyzable host: not a counted loop: its counter p is a pointer
 * EXPECT: steps_over/for unanalyzable host: not a counted loop: its counter p is a pointer
 * EXPECT: wraps/while unanalyzable host: not a counted loop: only running a while loop tells how often it runs
 * EXPECT: skips/for unanalyzable host: not a counted loop: its counter p is a pointer
 * EXPECT: waits/while unanalyzable host: not a counted loop: only running a while loop tells how often it runs
 * EXPECT: length/while unanalyzable host: not a counted loop: only running a while loop tells how often it runs
 */
#include <stddef.h>

int marks(int *p, int *end, int x)
{
    while (p != end && *p != x)
        *p++ = -1;
    return p != end;
}

void shrinks(int *restrict a, const int *restrict b, int n)
{
    int *end = a + n;
    for (int *p = a; p != end; ++p) {
        *p = 0;
        if (b[p - a])
            --end;
    }
}

void steps_over(int *a, int n)
{
    for (int *p = a; p != a + n; p += 2)
        *p = 0;
}

void wraps(int *a, size_t n)
{
    size_t i = n;
    while (i >= 0) {
        a[i] = 0;
        i--;
    }
}

void skips(int *a, int n)
{
    for (int *p = a; p < a + n; ++p) {
        if (*p < 0)
            ++p;
        *p = 0;
    }
}

int waits(int *a, int n)
{
    int i = 0;
    while (i < n) {
        if (a[i] < 0)
            continue;
        a[i] = 0;
        i++;
    }
    return i;
}

/* where x stands is not known: it may be behind what may be read */
size_t length(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}
