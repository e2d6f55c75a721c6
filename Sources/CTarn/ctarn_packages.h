#ifndef CTARN_PACKAGES_H
#define CTARN_PACKAGES_H
// Names a missing Debian package before the compiler reports one of its headers.
#if !__has_include(<bid_conf.h>)
#error "A decimal library is missing. Run `make setup`, or: apt-get install libintelrdfpmath-dev"
#endif
#if !__has_include(<unicode/ucol.h>)
#error "ICU is missing. Run `make setup`, or install it: apt-get install libicu-dev"
#endif
#endif
