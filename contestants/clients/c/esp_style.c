#define _GNU_SOURCE  // asprintf
// The published C client's design on the host: a transport that waits before each send and receive, a parser that sees
// every byte, and one handler for all events.
#include <errno.h>
#include <http_parser.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lines.h"

enum { TIMEOUT_MS = 30000, HOST_BYTES = 256, PORT_BYTES = 8 };

enum event { CONNECTED, REQUEST_SENT, HEADER_FIELD, HEADER_VALUE, DATA, FINISHED, DISCONNECTED };

struct client;
// Told of everything that happens; false ends the download, with errno.
typedef bool event_handler(struct client *client, enum event event, const char *data, size_t bytes);

struct client {
    char host[HOST_BYTES];
    char port[PORT_BYTES];
    char *request;
    size_t request_bytes;
    char *buffer;
    size_t buffer_bytes;
    bool keep;
    int fd;  // -1 without a connection
    event_handler *handler;
    struct sink *sink;
    char *error;
    bool complete;
};

static bool fail(struct client *client, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Says what happened; always false. The first to say something wins: it is nearest to the cause.
static bool fail(struct client *client, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (client->error[0] == '\0') vsnprintf(client->error, ERROR_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

static bool count_data(struct client *client, enum event event, const char *data, size_t bytes) {
    return event != DATA || sink_take(client->sink, data, bytes);
}

static bool tell(struct client *client, enum event event, const char *data, size_t bytes) {
    if (client->handler(client, event, data, bytes)) return true;
    return fail(client, "write the body: %s", strerror(errno));
}

static void disconnect(struct client *client) {
    if (client->fd < 0) return;
    close(client->fd);
    client->fd = -1;
    client->handler(client, DISCONNECTED, NULL, 0);
}

static bool wait_for(struct client *client, short events) {
    struct pollfd poll_fd = {.fd = client->fd, .events = events};
    int ready;
    do ready = poll(&poll_fd, 1, TIMEOUT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready == 0) return fail(client, "nothing came or went for %d ms", TIMEOUT_MS);
    return ready > 0 || fail(client, "poll: %s", strerror(errno));
}

static bool connect_to(struct client *client) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(client->host, client->port, &hints, &found);
    if (code != 0) return fail(client, "resolve %s: %s", client->host, gai_strerror(code));
    for (struct addrinfo *address = found; address != NULL && client->fd < 0; address = address->ai_next) {
        int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
        if (fd < 0) continue;
        if (connect(fd, address->ai_addr, address->ai_addrlen) == 0) {
            client->fd = fd;
        } else {
            int cause = errno;
            close(fd);
            errno = cause;
        }
    }
    int cause = errno;
    freeaddrinfo(found);
    if (client->fd < 0) return fail(client, "connect: %s", strerror(cause));
    return tell(client, CONNECTED, NULL, 0);
}

static bool send_request(struct client *client) {
    for (size_t sent = 0; sent < client->request_bytes;) {
        if (!wait_for(client, POLLOUT)) return false;
        ssize_t count = send(client->fd, client->request + sent, client->request_bytes - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(client, "send: %s", strerror(errno));
        sent += (size_t)count;
    }
    return tell(client, REQUEST_SENT, NULL, 0);
}

static int on_header_field(http_parser *parser, const char *data, size_t bytes) {
    return tell(parser->data, HEADER_FIELD, data, bytes) ? 0 : -1;
}

static int on_header_value(http_parser *parser, const char *data, size_t bytes) {
    return tell(parser->data, HEADER_VALUE, data, bytes) ? 0 : -1;
}

static int on_body(http_parser *parser, const char *data, size_t bytes) {
    return tell(parser->data, DATA, data, bytes) ? 0 : -1;
}

static int on_message_complete(http_parser *parser) {
    struct client *client = parser->data;
    if (parser->status_code < 200) return 0;  // an interim response: the real one follows
    client->complete = true;
    http_parser_pause(parser, 1);  // whatever follows belongs to no request of ours
    return tell(client, FINISHED, NULL, 0) ? 0 : -1;
}

static const http_parser_settings CALLBACKS = {
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

// Reads until the parser has seen the response's end; whether the connection may be used again is in reusable.
static bool receive_response(struct client *client, http_parser *parser, bool *reusable) {
    size_t surplus = 0;
    while (!client->complete) {
        if (!wait_for(client, POLLIN)) return false;
        ssize_t got = recv(client->fd, client->buffer, client->buffer_bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(client, "receive: %s", strerror(errno));
        // Nothing received means to the parser that the connection has ended: right only where a body has no length.
        size_t parsed = http_parser_execute(parser, &CALLBACKS, client->buffer, (size_t)got);
        enum http_errno code = HTTP_PARSER_ERRNO(parser);
        if (code != HPE_OK && code != HPE_PAUSED) return fail(client, "%s", http_errno_description(code));
        if (got == 0 && !client->complete) return fail(client, "the connection ended before the response did");
        surplus = (size_t)got - parsed;
    }
    http_parser_pause(parser, 0);
    *reusable = surplus == 0 && http_should_keep_alive(parser) != 0;
    return true;
}

static bool fetch(void *state, struct sink *sink, long *status, char *error) {
    struct client *client = state;
    client->sink = sink;
    client->error = error;
    client->complete = false;
    http_parser parser;
    http_parser_init(&parser, HTTP_RESPONSE);
    parser.data = client;
    bool reusable = false;
    bool whole = (client->fd >= 0 || connect_to(client)) && send_request(client) &&
                 receive_response(client, &parser, &reusable);
    if (!whole || !reusable || !client->keep) disconnect(client);
    *status = parser.status_code;
    return whole;
}

// Takes the URL apart and makes request and buffer; false if that can't be done.
static bool set_up(struct client *client, const struct settings *settings) {
    struct http_parser_url url;
    http_parser_url_init(&url);
    const char *text = settings->url;
    if (http_parser_parse_url(text, strlen(text), 0, &url) != 0 || url.field_data[UF_HOST].len >= HOST_BYTES) {
        return false;
    }
    snprintf(client->host, sizeof client->host, "%.*s", url.field_data[UF_HOST].len, text + url.field_data[UF_HOST].off);
    snprintf(client->port, sizeof client->port, "%u", url.port == 0 ? 80U : url.port);
    // Path and query are what begins at the path, or nothing.
    bool has_path = (url.field_set & 1U << UF_PATH) != 0;
    const char *target = has_path ? text + url.field_data[UF_PATH].off : "/";
    int bytes = asprintf(&client->request, "GET %s HTTP/1.1\r\nHost: %s:%s\r\nUser-Agent: esp-style\r\n\r\n", target,
                         client->host, client->port);
    client->request_bytes = bytes < 0 ? 0 : (size_t)bytes;
    client->buffer_bytes = settings->buffer_bytes;
    client->buffer = malloc(client->buffer_bytes);
    client->keep = settings->keep;
    return bytes >= 0 && client->buffer != NULL;
}

int main(void) {
    struct settings settings;
    if (!settings_read(&settings)) return 2;
    struct client client = {.fd = -1, .handler = count_data};
    if (settings.h2 || !set_up(&client, &settings)) {
        fputs("PHOTOFINISH_URL has to be http://HOST:PORT/PATH and PHOTOFINISH_PROTOCOL http/1.1\n", stderr);
        return 2;
    }
    int status = serve(&client, fetch);
    disconnect(&client);
    free(client.request);
    free(client.buffer);
    return status;
}
