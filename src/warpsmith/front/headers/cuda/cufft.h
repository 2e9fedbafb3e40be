#pragma GCC system_header
#include "mini_cuda.h"
typedef int cufftHandle;
typedef int cufftResult;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
