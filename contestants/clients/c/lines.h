// What the clients of this folder share: settings, where bodies go, and the lines that are read and answered. The
// contract is in docs/contestants.md.
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ERROR_BYTES = 512 };

struct settings {
    const char *url;
    bool keep;            // all repetitions over one connection
    bool h2;              // HTTP/2 with prior knowledge
    size_t buffer_bytes;  // for reading; BUFFER_BYTES if that is set, else PHOTOFINISH_BUFFER
};

// Counts the bytes of a body; writes them to fd unless that is -1.
struct sink {
    int fd;
    uint64_t bytes;
};

// Takes the next piece; false, with errno, if the file can't be written.
bool sink_take(struct sink *sink, const void *piece, size_t bytes);

// Reads the environment; false, with a line on standard error, if something is missing or makes no sense.
bool settings_read(struct settings *settings);

// Fetches once; false, with what happened in error (ERROR_BYTES), if the response is not there whole. What is left of a
// failed call must not harm the next one.
typedef bool fetch_function(void *client, struct sink *sink, long *status, char *error);

// Answers until the end of input; the program's exit status.
int serve(void *client, fetch_function *fetch);

#endif
