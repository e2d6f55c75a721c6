#define _GNU_SOURCE
#include "cdaemon.h"
#include <curl/curl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tarn_cancel {
  atomic_bool wanted;
};

struct tarn_client {
  CURL *handle;
  char error[CURL_ERROR_SIZE];
  char *text;
  size_t length;
  size_t most;
};

tarn_cancel *tarn_cancel_new(void) { return calloc(1, sizeof(tarn_cancel)); }
void tarn_cancel_now(tarn_cancel *cancel) { atomic_store(&cancel->wanted, true); }
void tarn_cancel_free(tarn_cancel *cancel) { free(cancel); }

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void prepare(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

tarn_client *tarn_client_new(void) {
  pthread_once(&once, prepare);
  tarn_client *client = calloc(1, sizeof *client);
  if (client) client->handle = curl_easy_init();
  return client;
}

void tarn_client_free(tarn_client *client) {
  if (client->handle) curl_easy_cleanup(client->handle);
  free(client->text);
  free(client);
}

static size_t receive(char *data, size_t size, size_t count, void *context) {
  tarn_client *client = context;
  size_t room = client->most - client->length;
  size_t length = size * count < room ? size * count : room;
  if (length) {
    char *grown = realloc(client->text, client->length + length);
    if (!grown) return 0;
    client->text = grown;
    memcpy(client->text + client->length, data, length);
    client->length += length;
  }
  return size * count;
}

static int watch_cancel(
    void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  (void)a, (void)b, (void)c, (void)d;
  const tarn_cancel *cancel = context;
  return cancel && atomic_load(&((tarn_cancel *)cancel)->wanted);
}

static void set_request(
    tarn_client *client, const tarn_request *request, const tarn_cancel *cancel,
    struct curl_slist *headers) {
  CURL *handle = client->handle;
  // Keeps the connections.
  curl_easy_reset(handle);
  curl_easy_setopt(handle, CURLOPT_URL, request->url);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, client->error);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, request->connect_milliseconds);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, request->milliseconds);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, client);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, watch_cancel);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, (void *)cancel);
  if (request->socket_path)
    curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, request->socket_path);
  if (request->is_direct) curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
  if (request->certificates) curl_easy_setopt(handle, CURLOPT_CAINFO, request->certificates);
  if (request->body) {
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request->body);
  }
}

bool tarn_client_perform(
    tarn_client *client, const tarn_request *request, const tarn_cancel *cancel, size_t most,
    tarn_response *response) {
  memset(response, 0, sizeof *response);
  response->retry_after = -1;
  client->length = 0;
  client->most = most;
  client->error[0] = 0;
  struct curl_slist *headers = NULL;
  for (const char *const *line = request->headers; line && *line; line++)
    headers = curl_slist_append(headers, *line);
  set_request(client, request, cancel, headers);
  CURLcode code = curl_easy_perform(client->handle);
  curl_slist_free_all(headers);
  if (code != CURLE_OK) {
    bool is_told = client->error[0] && !request->is_secret;
    response->text = is_told ? client->error : (char *)curl_easy_strerror(code);
    response->length = strlen(response->text);
    return false;
  }
  curl_easy_getinfo(client->handle, CURLINFO_RESPONSE_CODE, &response->status);
  curl_off_t wait = 0;
  if (curl_easy_getinfo(client->handle, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0)
    response->retry_after = (long)wait;
  response->text = client->text;
  response->length = client->length;
  return true;
}

const char *tarn_url_fault(const char *url) {
  CURLU *parts = curl_url();
  if (!parts) return NULL;
  CURLUcode code = curl_url_set(parts, CURLUPART_URL, url, 0);
  curl_url_cleanup(parts);
  return code ? curl_url_strerror(code) : NULL;
}

int tarn_count_certificates(const char *path) {
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  int count = 0;
  X509 *certificate;
  while ((certificate = PEM_read_X509(file, NULL, NULL, NULL))) {
    X509_free(certificate);
    count++;
  }
  // The end of the file is an error, too.
  ERR_clear_error();
  fclose(file);
  return count;
}

void tarn_hmac(
    const void *key, size_t key_length, const void *data, size_t length, uint8_t *result) {
  unsigned count = 0;
  HMAC(EVP_sha256(), key, (int)key_length, data, length, result, &count);
}

struct MHD_Daemon *tarn_serve(
    int listener, unsigned timeout_seconds, unsigned connections, MHD_AcceptPolicyCallback accepts,
    MHD_NotifyConnectionCallback begun, MHD_AccessHandlerCallback handler,
    MHD_RequestCompletedCallback completed, void *context) {
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, accepts, context, handler,
      context,
      MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
      MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_NOTIFY_CONNECTION, begun, context,
      MHD_OPTION_END);
}

void tarn_set_timeout(struct MHD_Connection *connection, unsigned seconds) {
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

const char *tarn_header(struct MHD_Connection *connection, const char *name) {
  return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

const char *tarn_argument(struct MHD_Connection *connection, const char *name) {
  return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

int tarn_argument_count(struct MHD_Connection *connection) {
  return MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL);
}

int tarn_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

bool tarn_has_left(int socket) {
  struct pollfd wait = {.fd = socket, .events = POLLRDHUP};
  return poll(&wait, 1, 0) > 0 && wait.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

struct MHD_Response *tarn_text(const void *bytes, size_t length) {
  return MHD_create_response_from_buffer(length, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}
