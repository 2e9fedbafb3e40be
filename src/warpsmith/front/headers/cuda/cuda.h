#include "mini_cuda.h"
#include <stdint.h>
