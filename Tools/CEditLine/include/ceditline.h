#ifndef CEDITLINE_H
#define CEDITLINE_H
// A line of UTF-8 that a person types, with editing, history and completion: libedit.
#if !__has_include(<editline/readline.h>)
#error "Run 'make setup', or: apt-get install libedit-dev"
#endif

// Returns the candidates for a word, separated by line feeds and allocated with malloc: `line` is
// the text before it. One thread.
typedef char *(*tarn_completer)(const char *line, const char *word);

void tarn_line_prepare(const char *program, tarn_completer completer);
// The next line, allocated with malloc; null at the end of the input. One that Ctrl-C gives up is
// empty.
char *tarn_line_read(const char *prompt);
void tarn_line_remember(const char *line);
// Not 0 if it cannot.
int tarn_history_load(const char *path);
int tarn_history_save(const char *path, int lines);
#endif
