#include "ctarn.h"
