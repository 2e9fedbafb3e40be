#include <vector>

struct Totals {
    double sum;
    long count;
    void add(int n, const double *a);
    void decay(int n, const double *a);
};

void Totals::add(int n, const double *a)
{
    for (int i = 0; i < n; i++) {
        sum += a[i];
        this->count++;
    }
}

void Totals::decay(int n, const double *a)
{
    for (int i = 0; i < n; i++)
        sum = sum * 0.5 + a[i];
}

void by_reference(int n, const double *a, double &s)
{
    for (int i = 0; i < n; i++)
        s += a[i];
}

void of_parameter(int n, const double *a, Totals &t)
{
    for (int i = 0; i < n; i++)
        t.sum += a[i];
}
