#pragma GCC system_header
#include "mini_cuda.h"
typedef struct cublasContext *cublasHandle_t;
typedef int cublasStatus_t;
