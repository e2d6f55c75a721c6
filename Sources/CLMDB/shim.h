#if !__has_include(<lmdb.h>)
#error "LMDB is missing. Run `make setup`, or install it: apt-get install liblmdb-dev"
#endif
#include <lmdb.h>
