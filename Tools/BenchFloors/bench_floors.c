#include "bench_floors.h"
