#if !__has_include(<libpq-fe.h>)
#error "libpq is missing. Run `make setup`, or install it: apt-get install libpq-dev"
#endif
#include <libpq-fe.h>
