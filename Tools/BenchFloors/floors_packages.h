#ifndef FLOORS_PACKAGES_H
#define FLOORS_PACKAGES_H
// LMDB, SQLite and libcurl, with the name of a missing Debian package.
#include "../../Sources/CLMDB/shim.h"
#include "../../Sources/CSQLite/shim.h"
#if !__has_include(<curl/curl.h>)
#error "Run 'make setup', or: apt-get install libcurl4-openssl-dev"
#endif
#include <curl/curl.h>
#endif
