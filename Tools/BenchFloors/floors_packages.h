#ifndef FLOORS_PACKAGES_H
#define FLOORS_PACKAGES_H
// LMDB and SQLite, through the headers that name a missing Debian package.
#include "../../Sources/CLMDB/shim.h"
#include "../../Sources/CSQLite/shim.h"
#endif
