#if !__has_include(<openssl/evp.h>)
#error "libcrypto is missing. Run `make setup`, or install it: apt-get install libssl-dev"
#endif
#include <openssl/evp.h>
#include <openssl/hmac.h>
