/* The helpers of NVIDIA's samples together. */
#ifndef WARPSMITH_HELPER_FUNCTIONS_H
#define WARPSMITH_HELPER_FUNCTIONS_H

#include <math.h>
#include <stdio.h>

#include <string>

#include "helper_string.h"
#include "helper_timer.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

template <class T> bool compareData(const T *reference, const T *data, unsigned int count, float epsilon, float) {
    for (unsigned int i = 0; i < count; ++i)
        if (!(fabs((double)reference[i] - (double)data[i]) <= epsilon)) return false;
    return true;
}
inline bool sdkCompareL2fe(const float *reference, const float *data, unsigned int count, float epsilon) {
    double error = 0, norm = 0;
    for (unsigned int i = 0; i < count; ++i) {
        const double d = (double)reference[i] - data[i];
        error += d * d;
        norm += (double)reference[i] * reference[i];
    }
    return norm > 0 && sqrt(error) / sqrt(norm) < epsilon;
}

#endif
