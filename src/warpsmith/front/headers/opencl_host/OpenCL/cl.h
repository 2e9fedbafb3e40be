#include "../CL/cl.h"
