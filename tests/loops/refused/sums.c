#include <math.h>

/* sums beside the updates of pairs, and sums that are members of members */
struct tally {
    double kinetic;
    long near[3];
};

struct ensemble {
    double energy;
    struct tally of;
    double x[40], f[40];
};

void attraction(int n, struct ensemble *s)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double d = s->x[i] - s->x[j], pull = d / (d * d + 0.5), depth = log(d * d + 0.5);
            s->f[i] += pull;
            s->f[j] -= pull;
            s->energy -= 0.5 * depth;
        }
}

double nearest_pair(int n, const double *restrict x, double *restrict f, double cut, int *restrict many)
{
    double least = 1e9;
    int close = 0;
    for (int i = 0; i < n; i++) {
        double xi = x[i];
        for (int j = i + 1; j < n; j++) {
            double d = fabs(xi - x[j]);
            if (d > cut)
                continue;
            if (d < least)
                least = d;
            close++;
            f[i] = f[i] * 0.75 + d;
            f[j] = f[j] * 0.75 - d;
        }
    }
    *many = close;
    return least;
}

void distances(int n, const double *restrict x, double *restrict f, int *restrict seen)
{
    for (int i = 0; i < n - 1; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = fabs(x[i] - x[j]);
            if (d < 4.0)
                seen[(int)d]++;
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 + d;
        }
    }
}

void unclear_names(int n, const double *x, double *f, double *e)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 - d;
            *e += d * d;
        }
    }
}

/* the sum is used by the pairs, or is one of the elements, or not of all pairs */
double sum_so_far(int n, const double *restrict x, double *restrict f)
{
    double e = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            e += d;
            f[i] = f[i] * 0.5 + e;
            f[j] = f[j] * 0.5 - e;
        }
    }
    return e;
}

double sum_of_elements(int n, const double *restrict x, double *restrict f)
{
    double e = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 - d;
            e += f[j];
        }
    }
    return e;
}

void into_an_element(int n, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 - d;
            f[n] += d;
        }
    }
}

double until_enough(int n, const double *restrict x, double *restrict f)
{
    double e = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            if (e > 9)
                continue;
            e += d * d;
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 - d;
        }
    }
    return e;
}

double decaying_sum(int n, const double *restrict x, double *restrict f)
{
    double e = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            f[i] += d;
            f[j] -= d;
            e = e * 0.5 + d;
        }
    }
    return e;
}

void kinetic(int n, const double *restrict v, struct ensemble *restrict s)
{
    for (int i = 0; i < n; i++) {
        s->of.kinetic += v[i] * v[i];
        s->energy -= v[i];
        if (v[i] > 0.25)
            s->of.near[2]++;
    }
}

static struct ensemble everything;
void of_variable(int n, const double *restrict v)
{
    for (int i = 0; i < n; i++)
        everything.of.kinetic += v[i] + everything.x[i];
}

void other_member(int n, struct ensemble *s)
{
    for (int i = 0; i < n; i++)
        s->of.kinetic += s->x[i];
}

/* another element each time, and objects that are read as parts of others */
struct cursor {
    int at;
    double slots[44];
};

void moving_slot(int n, const double *restrict v, struct cursor *restrict s)
{
    for (int i = 0; i < n; i++) {
        s->slots[s->at] += v[i];
        s->at++;
    }
}

void copied_whole(int n, double *restrict v, struct ensemble *restrict s)
{
    for (int i = 0; i < n; i++) {
        s->of.kinetic += v[i];
        struct tally now = s->of;
        v[i] = now.kinetic;
    }
}

union shared_bytes {
    struct tally of;
    double raw[4];
};

void in_shared_bytes(int n, const double *restrict v, union shared_bytes *restrict u)
{
    for (int i = 0; i < n; i++) {
        u->of.kinetic += v[i];
        u->raw[0] *= 0.5;
    }
}
