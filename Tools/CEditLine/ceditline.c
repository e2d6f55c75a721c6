#include "ceditline.h"
#include <stdio.h>
#include <editline/readline.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static tarn_completer complete;
static char *candidates;
static char *next_candidate;

static char *give(const char *word, int state) {
  (void)word;
  (void)state;
  if (!next_candidate || !*next_candidate) return NULL;
  char *found = next_candidate;
  char *end = strchr(found, '\n');
  next_candidate = end ? end + 1 : NULL;
  return end ? strndup(found, (size_t)(end - found)) : strdup(found);
}

// How many bytes a number of characters take at the beginning of UTF-8 text.
static size_t bytes_of(const char *text, int characters) {
  size_t count = 0;
  while (characters-- > 0 && text[count]) {
    count++;
    while (((unsigned char)text[count] & 0xc0) == 0x80) count++;
  }
  return count;
}

static char **attempt(const char *word, int start, int end) {
  (void)end;
  // Otherwise it would complete names of files.
  rl_attempted_completion_over = 1;
  // libedit counts characters, and gives bytes.
  char *before = strndup(rl_line_buffer, bytes_of(rl_line_buffer, start));
  free(candidates);
  candidates = complete(before, word);
  next_candidate = candidates;
  free(before);
  return candidates && *candidates ? rl_completion_matches(word, give) : NULL;
}

static int is_given_up;

static int give_up(int count, int key) {
  (void)count;
  (void)key;
  is_given_up = 1;
  rl_done = 1;
  return 0;
}

// While a line is edited, Ctrl-C is a key, and not a signal, which would end the program. The
// settings are lost with each line. They are in use before the prompt is written: libedit itself
// would wait until it reads, and the terminal would discard a line with a Ctrl-C in between.
static int begin_line(void) {
  rl_parse_and_bind("setty -d -intr intr=");
  rl_prep_terminal(0);
  return 0;
}

// libedit drops each character that the locale does not have, and without a call all but ASCII.
// Lines are UTF-8, as files and output are, whatever the environment says.
static void use_utf8(void) {
  if (setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return;
  setlocale(LC_CTYPE, "C.UTF-8");
}

void tarn_line_prepare(const char *program, tarn_completer completer) {
  complete = completer;
  use_utf8();
  rl_readline_name = (char *)program;
  rl_initialize();
  rl_attempted_completion_function = attempt;
  rl_pre_input_hook = begin_line;
  rl_add_defun("tarn-give-up", give_up, 3);
  using_history();
}

char *tarn_line_read(const char *prompt) {
  is_given_up = 0;
  char *line = readline(prompt);
  if (!is_given_up) return line;
  free(line);
  fputs("^C\n", rl_outstream ? rl_outstream : stdout);
  fflush(rl_outstream ? rl_outstream : stdout);
  return strdup("");
}
void tarn_line_remember(const char *line) { add_history(line); }
int tarn_history_load(const char *path) { return read_history(path); }

int tarn_history_save(const char *path, int lines) {
  stifle_history(lines);
  return write_history(path);
}
