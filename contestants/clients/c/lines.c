#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sink_take(struct sink *sink, const void *piece, size_t bytes) {
    sink->bytes += bytes;
    const char *next = piece;
    while (sink->fd >= 0 && bytes > 0) {
        ssize_t written = write(sink->fd, next, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        next += written;
        bytes -= (size_t)written;
    }
    return true;
}

// 0 for the first of two words, 1 for the second, -1, with a line on standard error, for anything else.
static int choice(const char *name, const char *first, const char *second) {
    const char *value = getenv(name);
    if (value != NULL && strcmp(value, first) == 0) return 0;
    if (value != NULL && strcmp(value, second) == 0) return 1;
    fprintf(stderr, "%s is %s; it has to be %s or %s\n", name, value == NULL ? "not set" : value, first, second);
    return -1;
}

bool settings_read(struct settings *settings) {
    settings->url = getenv("PHOTOFINISH_URL");
    if (settings->url == NULL || strncmp(settings->url, "http://", 7) != 0) {
        fputs("PHOTOFINISH_URL has to be set to http://HOST:PORT/PATH\n", stderr);
        return false;
    }
    int connection = choice("PHOTOFINISH_CONNECTION", "new", "keep");
    int protocol = choice("PHOTOFINISH_PROTOCOL", "http/1.1", "h2");
    if (connection < 0 || protocol < 0) return false;
    settings->keep = connection == 1;
    settings->h2 = protocol == 1;
    const char *buffer = getenv("BUFFER_BYTES");
    if (buffer == NULL) buffer = getenv("PHOTOFINISH_BUFFER");
    char *end = NULL;
    unsigned long long bytes = buffer == NULL ? 0 : strtoull(buffer, &end, 10);
    if (bytes == 0 || bytes > 1ULL << 30 || *end != '\0') {
        fprintf(stderr, "the buffer is %s; PHOTOFINISH_BUFFER or BUFFER_BYTES has to be 1 to 2^30 bytes\n",
                buffer == NULL ? "not set" : buffer);
        return false;
    }
    settings->buffer_bytes = (size_t)bytes;
    return true;
}

static void print_error(const char *text) {
    fputs("{\"error\":\"", stdout);
    for (const unsigned char *next = (const unsigned char *)text; *next != '\0'; next++) {
        // What is not ASCII may be no UTF-8 either: it came from a peer.
        if (*next < ' ' || *next > '~') printf("\\u%04x", *next);
        else if (*next == '"' || *next == '\\') printf("\\%c", *next);
        else putchar(*next);
    }
    puts("\"}");
}

static void repeat(void *client, fetch_function *fetch, const char *path) {
    char error[ERROR_BYTES] = "";
    struct sink sink = {.fd = -1, .bytes = 0};
    if (path != NULL && (sink.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
        snprintf(error, sizeof error, "create %s: %s", path, strerror(errno));
        print_error(error);
        return;
    }
    long status = 0;
    bool whole = fetch(client, &sink, &status, error);
    if (sink.fd >= 0 && close(sink.fd) < 0 && whole) {
        snprintf(error, sizeof error, "close %s: %s", path, strerror(errno));
        whole = false;
    }
    if (whole) printf("{\"bytes\":%llu,\"status\":%ld}\n", (unsigned long long)sink.bytes, status);
    else print_error(error);
}

int serve(void *client, fetch_function *fetch) {
    static const char save[] = "save ";
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("{\"ready\":true}");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) >= 0) {
        if (length > 0 && line[length - 1] == '\n') line[length - 1] = '\0';
        if (strcmp(line, "go") == 0) repeat(client, fetch, NULL);
        else if (strncmp(line, save, sizeof save - 1) == 0) repeat(client, fetch, line + sizeof save - 1);
        else print_error("unknown command; go and save PATH are known");
        if (ferror(stdout)) break;
    }
    free(line);
    return ferror(stdin) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
