#ifndef CTARN_H
#define CTARN_H
// The library's C code: everything that Swift cannot express. Each header has one subject; this one
// includes them all.
#include "ctarn_classes.h"
#include "ctarn_cluster.h"
#include "ctarn_collation.h"
#include "ctarn_decimal.h"
#include "ctarn_files.h"
#include "ctarn_fork.h"
#include "ctarn_shared.h"
#include "ctarn_sums.h"
#include "ctarn_thread.h"
#endif
