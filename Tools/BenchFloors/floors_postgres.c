// The exchange with a PostgreSQL server as plain programs on libpq do it: the same tables,
// triggers, statements and arrays.
#include "bench_floors.h"
#include "floors_support.h"
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static PGconn *connect_to(const char *address) {
  PGconn *connection = PQconnectdb(address);
  if (PQstatus(connection) == CONNECTION_OK) return connection;
  fprintf(stderr, "%s", PQerrorMessage(connection));
  PQfinish(connection);
  return NULL;
}

// Runs a statement; frees the result unless `result` takes it.
static int run(PGconn *connection, const char *statement, PGresult **result) {
  PGresult *made = PQexec(connection, statement);
  ExecStatusType status = PQresultStatus(made);
  int error = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : EIO;
  if (error) fprintf(stderr, "%s", PQerrorMessage(connection));
  if (result && !error) {
    *result = made;
  } else {
    PQclear(made);
  }
  return error;
}

int bf_pg_run(const char *address, const char *statement, double *seconds) {
  PGconn *connection = connect_to(address);
  if (!connection) return ENOTCONN;
  double start = bf_now();
  int error = run(connection, statement, NULL);
  *seconds = bf_now() - start;
  PQfinish(connection);
  return error;
}

int bf_pg_number(const char *address, const char *statement, int64_t *number) {
  PGconn *connection = connect_to(address);
  if (!connection) return ENOTCONN;
  PGresult *result = NULL;
  int error = run(connection, statement, &result);
  if (!error) {
    *number = PQntuples(result) > 0 ? atoll(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
  }
  PQfinish(connection);
  return error;
}

// ---- One commit's way ----

struct listener {
  const char *address;
  const char *channel;
  int64_t rounds;
  _Atomic int64_t seen;
  _Atomic int failure;
  double *read;
};

static void *listen_for(void *context) {
  struct listener *listener = context;
  PGconn *connection = connect_to(listener->address);
  char text[64];
  snprintf(text, sizeof text, "LISTEN %s", listener->channel);
  int error = connection ? run(connection, text, NULL) : ENOTCONN;
  atomic_store(&listener->seen, error ? -1 : 0);
  for (int64_t i = 0; !error && i < listener->rounds;) {
    struct pollfd waited = {.fd = PQsocket(connection), .events = POLLIN};
    if (poll(&waited, 1, 10000) <= 0 || !PQconsumeInput(connection)) error = ETIMEDOUT;
    int has_any = 0;
    for (PGnotify *notice; (notice = PQnotifies(connection)); has_any = 1) PQfreemem(notice);
    if (!has_any) continue;
    PGresult *result = NULL;
    error = run(connection, "SELECT age FROM \"Person\" WHERE _id = 1", &result);
    if (error) break;
    PQclear(result);
    listener->read[i++] = bf_now();
    atomic_store(&listener->seen, i);
  }
  atomic_store(&listener->failure, error);
  PQfinish(connection);
  return NULL;
}

int bf_pg_wake(
    const char *address, const char *channel, int64_t rounds, double pause, double *latencies) {
  PGconn *connection = connect_to(address);
  double *read = calloc((size_t)rounds, sizeof *read);
  struct listener listener = {
      .address = address, .channel = channel, .rounds = rounds, .seen = -2, .read = read};
  pthread_t thread;
  int error = !connection || !read ? ENOMEM : pthread_create(&thread, NULL, listen_for, &listener);
  if (error) goto done;
  while (atomic_load(&listener.seen) == -2) usleep(1000);
  for (int64_t i = 0; !error && i < rounds; i++) {
    usleep((useconds_t)(pause * 1e6));
    char text[128], hint[64];
    snprintf(text, sizeof text,
        "BEGIN; UPDATE \"Person\" SET age = %lld WHERE _id = 1; COMMIT", (long long)i + 1);
    snprintf(hint, sizeof hint, "NOTIFY %s", channel);
    double start = bf_now();
    error = run(connection, text, NULL);
    if (!error) error = run(connection, hint, NULL);
    while (!error && atomic_load(&listener.seen) <= i && !atomic_load(&listener.failure)) {
      usleep(20);
    }
    latencies[i] = read[i] - start;
  }
  pthread_join(thread, NULL);
  if (!error) error = atomic_load(&listener.failure);
done:
  if (connection) PQfinish(connection);
  free(read);
  return error;
}

// ---- Other writers ----

struct bf_pg_load {
  const char *address;
  int count;
  _Atomic int ends;
  pthread_t threads[64];
};

static void *write_on(void *context) {
  struct bf_pg_load *load = context;
  PGconn *connection = connect_to(load->address);
  for (int64_t i = 0; connection && !atomic_load(&load->ends); i++) {
    char text[128];
    snprintf(text, sizeof text, "UPDATE load SET n = n + 1 WHERE id = %lld",
        (long long)(i % 1000));
    if (run(connection, text, NULL)) break;
  }
  if (connection) PQfinish(connection);
  return NULL;
}

int bf_pg_load_start(const char *address, int count, bf_pg_load **made) {
  if (count > 64) return EINVAL;
  struct bf_pg_load *load = calloc(1, sizeof *load);
  if (!load) return ENOMEM;
  load->address = strdup(address);
  for (; load->count < count; load->count++) {
    int error = pthread_create(&load->threads[load->count], NULL, write_on, load);
    if (error) {
      bf_pg_load_end(load);
      return error;
    }
  }
  *made = load;
  return 0;
}

void bf_pg_load_end(bf_pg_load *load) {
  atomic_store(&load->ends, 1);
  for (int i = 0; i < load->count; i++) pthread_join(load->threads[i], NULL);
  free((void *)load->address);
  free(load);
}

// ---- Many commits ----

struct text {
  char *bytes;
  size_t used;
  size_t size;
};

static void append(struct text *text, const char *more) {
  size_t count = strlen(more);
  if (text->used + count + 1 > text->size) {
    text->size = (text->used + count + 1) * 2;
    text->bytes = realloc(text->bytes, text->size);
  }
  memcpy(text->bytes + text->used, more, count + 1);
  text->used += count;
}

int bf_pg_push(
    const char *address, int64_t commits, int64_t objects, int64_t run_length, double *seconds) {
  PGconn *connection = connect_to(address);
  if (!connection) return ENOTCONN;
  PGresult *rows = NULL;
  int error =
      run(connection, "SELECT _id, _tarn_oid FROM \"Person\" ORDER BY _id", &rows);
  if (error) goto done;
  int64_t known = PQntuples(rows);
  struct text texts[4] = {{0}};
  double start = bf_now();
  for (int64_t done = 0; !error && done < commits; done += run_length) {
    for (int i = 0; i < 4; i++) {
      texts[i].used = 0;
      append(&texts[i], "{");
    }
    int64_t count = 0;
    for (int64_t i = done; i < done + run_length && i < done + objects; i++) {
      char number[160];
      int64_t row = i % objects % known;
      const char *comma = count++ ? "," : "";
      snprintf(number, sizeof number, "%s%s", comma, PQgetvalue(rows, (int)row, 0));
      append(&texts[0], number);
      snprintf(number, sizeof number, "%s%s", comma, PQgetvalue(rows, (int)row, 1));
      append(&texts[1], number);
      snprintf(number, sizeof number,
          "%s\"{\\\"by\\\": 1, \\\"cols\\\": {\\\"age\\\": %lld}}\"", comma,
          1700000000000000LL + (long long)i);
      append(&texts[2], number);
      snprintf(number, sizeof number, "%s%lld", comma, (long long)i);
      append(&texts[3], number);
    }
    for (int i = 0; i < 4; i++) append(&texts[i], "}");
    error = run(connection, "BEGIN ISOLATION LEVEL READ COMMITTED", NULL);
    const char *values[4] = {texts[0].bytes, texts[1].bytes, texts[2].bytes, texts[3].bytes};
    PGresult *result = PQexecParams(connection,
        "SELECT FROM \"Person\" WHERE _id = ANY ($1::bigint[]) ORDER BY _id FOR UPDATE", 1, NULL,
        values, NULL, NULL, 0);
    PQclear(result);
    result = PQexecParams(connection,
        "UPDATE \"Person\" t SET _tarn_in = u.i, age = u.a "
        "FROM unnest($1::bigint[], $2::bigint[], $3::jsonb[], $4::bigint[]) u (k, o, i, a) "
        "WHERE t._id = u.k AND t._tarn_oid = u.o RETURNING t._tarn_oid",
        4, NULL, values, NULL, NULL, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
      fprintf(stderr, "%s", PQerrorMessage(connection));
      error = EIO;
    }
    PQclear(result);
    if (!error) error = run(connection, "COMMIT", NULL);
  }
  *seconds = bf_now() - start;
  for (int i = 0; i < 4; i++) free(texts[i].bytes);
  PQclear(rows);
done:
  PQfinish(connection);
  return error;
}

int bf_pg_read(const char *address, const char *statement, int64_t *rows, double *seconds) {
  PGconn *connection = connect_to(address);
  if (!connection) return ENOTCONN;
  double start = bf_now();
  PGresult *result = PQexecParams(connection, statement, 0, NULL, NULL, NULL, NULL, 1);
  int error = PQresultStatus(result) == PGRES_TUPLES_OK ? 0 : EIO;
  if (error) fprintf(stderr, "%s", PQerrorMessage(connection));
  *rows = PQntuples(result);
  int64_t sum = 0;
  for (int row = 0; row < PQntuples(result); row++) {
    for (int column = 0; column < PQnfields(result); column++) {
      sum += PQgetlength(result, row, column);
    }
  }
  *seconds = bf_now() - start;
  PQclear(result);
  PQfinish(connection);
  return !error && !sum ? ENODATA : error;
}

int bf_pg_copy(const char *address, const char *statement, int64_t *bytes, double *seconds) {
  PGconn *connection = connect_to(address);
  if (!connection) return ENOTCONN;
  double start = bf_now();
  PGresult *result = PQexec(connection, statement);
  int error = PQresultStatus(result) == PGRES_COPY_OUT ? 0 : EIO;
  PQclear(result);
  *bytes = 0;
  char *row;
  for (int count; !error && (count = PQgetCopyData(connection, &row, 0)) > 0;) {
    *bytes += count;
    PQfreemem(row);
  }
  *seconds = bf_now() - start;
  PQfinish(connection);
  return error;
}
