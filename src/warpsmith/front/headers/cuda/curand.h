#pragma GCC system_header
#ifndef WARPSMITH_CURAND_H
#define WARPSMITH_CURAND_H
#include "mini_cuda.h"
typedef int curandStatus_t;
typedef struct curandGenerator_st *curandGenerator_t;
typedef int curandRngType_t;
#endif
