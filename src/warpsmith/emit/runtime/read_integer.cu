#pragma once

#include <cuda_runtime.h>

/* atoi, atol and atoll for device code, as the C library has them in the "C" locale: what is too large is the largest
   long. */
static __device__ long long ws_atoll(const char *text)
{
    while (*text == ' ' || (*text >= '\t' && *text <= '\r'))
        text++;
    const int negative = *text == '-';
    if (negative || *text == '+')
        text++;
    const unsigned long long most = negative ? 1ull << 63 : (1ull << 63) - 1;
    unsigned long long value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        const unsigned int digit = *text - '0';
        value = value > (most - digit) / 10 ? most : value * 10 + digit;
    }
    return negative ? (long long)(0 - value) : (long long)value;
}

static __device__ long ws_atol(const char *text)
{
    return (long)ws_atoll(text);
}

static __device__ int ws_atoi(const char *text)
{
    return (int)ws_atoll(text);
}
