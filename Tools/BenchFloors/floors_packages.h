#ifndef FLOORS_PACKAGES_H
#define FLOORS_PACKAGES_H
// LMDB and SQLite, by the headers that name a Debian package that is missing.
#include "../../Sources/CLMDB/shim.h"
#include "../../Sources/CSQLite/shim.h"
#endif
