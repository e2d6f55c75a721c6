#if !__has_include(<sqlite3.h>)
#error "SQLite is missing. Run `make setup`, or install it: apt-get install libsqlite3-dev"
#endif
#include <sqlite3.h>
