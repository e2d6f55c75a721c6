// The clients of the daemon's measurements, and the same jobs without a daemon: a process that
// relays commits to a socket, and a program that posts bodies.
#define _GNU_SOURCE  // accept4
#include "floors_lmdb.h"
#include "floors_packages.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_BYTES = 1 << 16 };

// Lines from a socket.
struct lines {
  int descriptor;
  size_t used;
  size_t taken;
  char bytes[LINE_BYTES];
};

// The next line, ended by a zero byte; null at the end of the stream. Keeps only the end of a line
// that does not fit into the buffer.
static char *next_line(struct lines *lines) {
  for (;;) {
    char *begin = lines->bytes + lines->taken;
    char *end = memchr(begin, '\n', lines->used - lines->taken);
    if (end) {
      *end = 0;
      lines->taken = (size_t)(end + 1 - lines->bytes);
      return begin;
    }
    memmove(lines->bytes, begin, lines->used - lines->taken);
    lines->used -= lines->taken;
    lines->taken = 0;
    if (lines->used == sizeof lines->bytes) lines->used /= 2;
    ssize_t count =
        read(lines->descriptor, lines->bytes + lines->used, sizeof lines->bytes - lines->used);
    if (count <= 0) return NULL;
    lines->used += (size_t)count;
  }
}

// The value of the last member "time" of a line; 0 if the line lacks one.
static double time_of(const char *line) {
  double found = 0;
  for (const char *place = line; (place = strstr(place, "\"time\":")); place += 7) {
    found = strtod(place + 7, NULL);
  }
  return found;
}

int bf_connect(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  if (!connect(descriptor, (struct sockaddr *)&address, sizeof address)) return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

// ---- Latency ----

// Reads a line for each commit and notes when.
static int read_lines(struct bf_wake *wake, int descriptor) {
  struct lines *lines = calloc(1, sizeof *lines);
  if (!lines) return ENOMEM;
  lines->descriptor = descriptor;
  int error = 0;
  for (int64_t i = 0; i < wake->wakes; i++) {
    char *line = next_line(lines);
    if (!line) {
      error = ECONNRESET;
      break;
    }
    wake->times[i].began = time_of(line);
    wake->times[i].read = bf_now();
    atomic_store(&wake->seen, i + 1);
  }
  free(lines);
  return error;
}

struct client {
  const char *path;
  int (*commit)(void *, double);
  void *context;
};

static int watch_socket(struct bf_wake *wake, void *context) {
  const struct client *client = context;
  int descriptor = bf_connect(client->path);
  if (descriptor < 0) return errno;
  if (write(descriptor, "{}\n", 3) != 3) return errno;
  // The first line has the state.
  char byte = 0;
  while (byte != '\n') {
    if (read(descriptor, &byte, 1) != 1) return ECONNRESET;
  }
  atomic_store(&wake->ready, 1);
  return read_lines(wake, descriptor);
}

static int commit_all(struct bf_wake *wake, void *context) {
  const struct client *client = context;
  for (int64_t i = 0; i < wake->wakes; i++) {
    bf_pause(500e-6);
    if (client->commit(client->context, bf_now())) return EIO;
    int error = bf_wake_await(wake, &wake->seen, i + 1);
    if (error) return error;
  }
  return 0;
}

int bf_socket_wake(
    const char *path, int64_t wakes, int (*commit)(void *, double), void *context,
    struct bf_latency *latency) {
  struct client client = {path, commit, context};
  struct bf_wake *wake = bf_wake_share(wakes);
  if (!wake) return errno;
  int error = bf_wake_run(wake, -1, &client, watch_socket, commit_all);
  if (!error) error = bf_wake_summary(wake, latency);
  bf_wake_unshare(wake);
  return error;
}

// Passes each commit on as a line.
static int send_line(void *context, int64_t index, double began, double woken) {
  (void)index;
  (void)woken;
  const int *descriptor = context;
  char line[128];
  int length = snprintf(
      line, sizeof line,
      "{\"class\":\"Ping\",\"modified\":[{\"key\":1,\"new\":{\"time\":%.9f}}]}\n", began);
  return write(*descriptor, line, (size_t)length) == length ? 0 : errno;
}

int bf_relay_lines(struct bf_wake *wake, const struct bf_wake_paths *paths) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return errno;
  pid_t child = bf_fork();
  if (child < 0) return errno;
  if (child == 0) {
    close(ends[1]);
    int error = bf_lmdb_follow(wake, paths, send_line, &ends[0]);
    atomic_store(&wake->failure, error);
    _exit(error ? 1 : 0);
  }
  close(ends[0]);
  int error = read_lines(wake, ends[1]);
  close(ends[1]);
  return bf_end_child(child, error);
}

// ---- Lag of many clients ----

struct bf_clients {
  int count;
  struct bf_client_thread {
    pthread_t thread;
    int descriptor;
    double lag;
    _Atomic double newest;
    int64_t lines;
  } threads[];
};

static void *follow(void *context) {
  struct bf_client_thread *self = context;
  struct lines *lines = calloc(1, sizeof *lines);
  if (!lines) return NULL;
  lines->descriptor = self->descriptor;
  for (char *line; (line = next_line(lines));) {
    double began = time_of(line);
    if (began <= 0) continue;
    double lag = bf_now() - began;
    if (lag > self->lag) self->lag = lag;
    atomic_store(&self->newest, began);
    self->lines++;
  }
  free(lines);
  return NULL;
}

int bf_clients_start(const char *path, int count, bf_clients **made) {
  bf_clients *clients = calloc(1, sizeof *clients + (size_t)count * sizeof clients->threads[0]);
  if (!clients) return ENOMEM;
  *made = clients;
  for (; clients->count < count; clients->count++) {
    struct bf_client_thread *one = &clients->threads[clients->count];
    one->descriptor = bf_connect(path);
    if (one->descriptor < 0 || write(one->descriptor, "{}\n", 3) != 3) return errno;
    if (pthread_create(&one->thread, NULL, follow, one)) return EAGAIN;
  }
  return 0;
}

int bf_clients_await(bf_clients *clients, double began, double patience) {
  double deadline = bf_now() + patience;
  for (int i = 0; i < clients->count; i++) {
    while (atomic_load(&clients->threads[i].newest) < began) {
      if (bf_now() > deadline) return ETIMEDOUT;
      bf_pause(1e-3);
    }
  }
  return 0;
}

int bf_clients_end(bf_clients *clients, double *lag, int64_t *lines) {
  *lag = 0;
  *lines = 0;
  for (int i = 0; i < clients->count; i++) {
    struct bf_client_thread *one = &clients->threads[i];
    shutdown(one->descriptor, SHUT_RDWR);
    pthread_join(one->thread, NULL);
    close(one->descriptor);
    if (one->lag > *lag) *lag = one->lag;
    *lines += one->lines;
  }
  free(clients);
  return 0;
}

// ---- Webhooks ----

struct bf_hooks {
  pthread_t thread;
  int listener;
  int64_t wanted;
  _Atomic int64_t count;
  double first;
  double last;
  int64_t bytes;
};

// Reads one request and answers it; false at the end of the connection.
static int answer_one(struct lines *lines, int64_t *bytes) {
  size_t body = 0;
  char *line;
  while ((line = next_line(lines)) && line[0] != '\r' && line[0]) {
    if (!strncasecmp(line, "Content-Length:", 15)) body = strtoul(line + 15, NULL, 10);
  }
  if (!line) return 0;
  *bytes += (int64_t)body;
  while (body) {
    size_t have = lines->used - lines->taken;
    size_t some = have < body ? have : body;
    lines->taken += some;
    body -= some;
    if (!body) break;
    lines->taken = lines->used = 0;
    ssize_t count = read(lines->descriptor, lines->bytes, sizeof lines->bytes);
    if (count <= 0) return 0;
    lines->used = (size_t)count;
  }
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  return write(lines->descriptor, answer, sizeof answer - 1) == sizeof answer - 1;
}

static void *serve(void *context) {
  bf_hooks *hooks = context;
  struct lines *lines = calloc(1, sizeof *lines);
  while (lines && atomic_load(&hooks->count) < hooks->wanted) {
    int descriptor = accept4(hooks->listener, NULL, NULL, SOCK_CLOEXEC);
    if (descriptor < 0) break;
    int yes = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    lines->descriptor = descriptor;
    lines->used = lines->taken = 0;
    while (atomic_load(&hooks->count) < hooks->wanted && answer_one(lines, &hooks->bytes)) {
      hooks->last = bf_now();
      if (!atomic_load(&hooks->count)) hooks->first = hooks->last;
      atomic_fetch_add(&hooks->count, 1);
    }
    close(descriptor);
  }
  free(lines);
  return NULL;
}

int bf_hooks_start(int64_t wanted, int *port, bf_hooks **made) {
  bf_hooks *hooks = calloc(1, sizeof *hooks);
  if (!hooks) return ENOMEM;
  hooks->wanted = wanted;
  hooks->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (hooks->listener < 0 || bind(hooks->listener, (struct sockaddr *)&address, length) ||
      listen(hooks->listener, 8) ||
      getsockname(hooks->listener, (struct sockaddr *)&address, &length) ||
      pthread_create(&hooks->thread, NULL, serve, hooks)) {
    return errno;
  }
  *port = ntohs(address.sin_port);
  *made = hooks;
  return 0;
}

int64_t bf_hooks_count(bf_hooks *hooks) { return atomic_load(&hooks->count); }

int bf_hooks_end(bf_hooks *hooks, double *per_second, int64_t *bytes) {
  shutdown(hooks->listener, SHUT_RDWR);
  pthread_join(hooks->thread, NULL);
  close(hooks->listener);
  int64_t count = atomic_load(&hooks->count);
  *per_second = count > 1 ? (double)(count - 1) / (hooks->last - hooks->first) : 0;
  *bytes = count ? hooks->bytes / count : 0;
  free(hooks);
  return count > 1 ? 0 : ENODATA;
}

int bf_hooks_post(int port, int64_t count, int64_t bytes) {
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/hook", port);
  char *body = malloc((size_t)bytes);
  CURL *curl = curl_easy_init();
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  headers = curl_slist_append(headers, "Expect:");
  if (!body || !curl || !headers) return ENOMEM;
  memset(body, ' ', (size_t)bytes);
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  int error = 0;
  for (int64_t i = 0; !error && i < count; i++) {
    if (curl_easy_perform(curl) != CURLE_OK) error = EIO;
  }
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  free(body);
  return error;
}
