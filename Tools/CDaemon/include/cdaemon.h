#ifndef CDAEMON_H
#define CDAEMON_H
// The daemon's doors to C libraries: those of their functions that Swift cannot call because they
// have variable arguments, and starting programs as another user.
#if !__has_include(<yaml.h>) || !__has_include(<curl/curl.h>) || !__has_include(<microhttpd.h>) \
    || !__has_include(<systemd/sd-daemon.h>) || !__has_include(<openssl/hmac.h>)
#error "Run 'make setup': it installs libyaml, libcurl, libmicrohttpd, libsystemd and libssl"
#endif
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <grp.h>
#include <microhttpd.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <yaml.h>

// MARK: - Commands

// Starts a program in a new process group, with these descriptors as standard input, output and
// error, default signal handling and no other descriptor. `user` may be null: then it runs as this
// process does. It is killed when the thread that calls this ends. Returns 0 or an errno.
int tarn_start(
    const char *program, char *const arguments[], char *const environment[], const char *user,
    int input, int output, int error, pid_t *process);

// Raises the limit of descriptors as far as this process may, but not for programs that it starts:
// some cannot use numbers above 1023. Call it before the first of them.
void tarn_raise_descriptors(void);

// A descriptor that can be read once the process has ended, or -1.
int tarn_process_descriptor(pid_t process);

// Whether there is such a user.
bool tarn_user_exists(const char *name);

// Makes this process one of a user, permanently: with its groups, and these. Returns 0 or an errno.
int tarn_become(const char *user, const gid_t *more, int count);

// Whether a user may do something with a file, of R_OK, W_OK and X_OK: 0 or an errno.
int tarn_may_as(const char *user, const char *path, int rights);

// A pipe and a connection that programs which are started do not inherit. -1 with errno.
int tarn_pipe(int ends[2], bool without_blocking);
int tarn_accept(int listener);

// Locks a file for this open descriptor of it, without waiting. Returns 0 or an errno; EAGAIN and
// EACCES if another descriptor has it. A child that is started does not keep the lock.
int tarn_lock_file(int descriptor);
// Makes this process the owner of a file, until it closes any descriptor of it: 0 or an error.
int tarn_own_file(int descriptor);
// The process that owns a file, as the system knows it; 0 if none does.
pid_t tarn_owner(int descriptor);

// MARK: - Requests

// A connection to servers, kept alive between requests. One thread at a time.
typedef struct tarn_client tarn_client;
// A wish to stop, from any thread.
typedef struct tarn_cancel tarn_cancel;

typedef struct {
  const char *url;
  // Null for the network.
  const char *socket_path;
  // Each "Name: value"; ends with null.
  const char *const *headers;
  // Null for GET, otherwise POST.
  const void *body;
  size_t length;
  long connect_milliseconds;
  long milliseconds;
  // Null for the system's certificates.
  const char *certificates;
  // Whether proxies that the environment names are left out.
  bool is_direct;
  // Whether the URL is a secret: then errors contain no part of it.
  bool is_secret;
} tarn_request;

typedef struct {
  long status;
  // Seconds; -1 without.
  long retry_after;
  // The first bytes of the answer, or of the error.
  char *text;
  size_t length;
} tarn_response;

tarn_cancel *tarn_cancel_new(void);
void tarn_cancel_now(tarn_cancel *cancel);
void tarn_cancel_free(tarn_cancel *cancel);

tarn_client *tarn_client_new(void);
void tarn_client_free(tarn_client *client);
// Returns false if there is no answer; the response's text then says why. At most `most` bytes of
// an answer are kept. `response->text` belongs to the client, until its next request.
bool tarn_client_perform(
    tarn_client *client, const tarn_request *request, const tarn_cancel *cancel, size_t most,
    tarn_response *response);

// The fault of a URL; null if it is valid.
const char *tarn_url_fault(const char *url);

// How many certificates a file has in PEM form.
int tarn_count_certificates(const char *path);

// HMAC-SHA256 into 32 bytes.
void tarn_hmac(
    const void *key, size_t key_length, const void *data, size_t length, uint8_t *result);

// MARK: - Serving

// Serves HTTP on a listening socket, on a separate thread. Null if it cannot.
struct MHD_Daemon *tarn_serve(
    int listener, unsigned timeout_seconds, unsigned connections, MHD_AcceptPolicyCallback accepts,
    MHD_NotifyConnectionCallback begun, MHD_AccessHandlerCallback handler,
    MHD_RequestCompletedCallback completed, void *context);

// Ends a connection that is idle for so long.
void tarn_set_timeout(struct MHD_Connection *connection, unsigned seconds);

// A header of a request, and an argument after the ? of its address; null without.
const char *tarn_header(struct MHD_Connection *connection, const char *name);
const char *tarn_argument(struct MHD_Connection *connection, const char *name);
// How many arguments there are.
int tarn_argument_count(struct MHD_Connection *connection);
// The socket of a connection, and whether its client has closed it.
int tarn_socket(struct MHD_Connection *connection);
bool tarn_has_left(int socket);
// A response with a copy of the bytes.
struct MHD_Response *tarn_text(const void *bytes, size_t length);
#endif
