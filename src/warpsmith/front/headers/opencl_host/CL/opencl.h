#include "cl.h"
