#pragma GCC system_header
#include "mini_cuda.h"
