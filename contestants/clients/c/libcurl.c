// Downloads through libcurl's easy interface: one handle, a write callback that counts.
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct client {
    CURL *curl;
    bool h2;
    // libcurl 7.88 sets up HTTP/2 a second time on a kept connection if prior knowledge is asked for again
    // (curl/curl#10634, mended in 8.0): there, once connected, it is only asked for HTTP/2.
    bool ask_once;
    bool connected;
};

static size_t take(char *piece, size_t size, size_t count, void *sink) {
    // Anything but the whole size makes libcurl give up with CURLE_WRITE_ERROR; errno stays.
    return sink_take(sink, piece, size * count) ? size * count : 0;
}

// The version that the response came in, or 0.
static long seen_version(CURL *curl) {
    long version = 0;
    curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &version);
    return version;
}

static bool fetch(void *state, struct sink *sink, long *status, char *error) {
    struct client *client = state;
    CURL *curl = client->curl;
    if (client->h2 && client->ask_once) {
        curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, client->connected ? 0L : 1L);
        curl_easy_setopt(curl, CURLOPT_HTTP_VERSION,
                         (long)(client->connected ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
    }
    char detail[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, sink);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    CURLcode code = curl_easy_perform(curl);
    int store_errno = errno;
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    bool whole = code == CURLE_OK && (!client->h2 || seen_version(curl) == CURL_HTTP_VERSION_2_0);
    client->connected = whole;
    if (code == CURLE_WRITE_ERROR) {
        snprintf(error, ERROR_BYTES, "write the body: %s", strerror(store_errno));
    } else if (code != CURLE_OK) {
        snprintf(error, ERROR_BYTES, "%s", detail[0] != '\0' ? detail : curl_easy_strerror(code));
    } else if (!whole) {
        snprintf(error, ERROR_BYTES, "the response did not come in HTTP/2");
    } else {
        whole = curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status) == CURLE_OK;
    }
    return whole;
}

// False if this libcurl can't do what is asked for.
static bool set_up(CURL *curl, const struct settings *settings) {
    long version = settings->h2 ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_1_1;
    bool done = curl_easy_setopt(curl, CURLOPT_URL, settings->url) == CURLE_OK &&
                curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, version) == CURLE_OK &&
                curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)settings->buffer_bytes) == CURLE_OK &&
                curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
                curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
                curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take) == CURLE_OK;
    if (done && !settings->keep) {
        done = curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK &&
               curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK;
    }
    return done;
}

int main(void) {
    struct settings settings;
    if (!settings_read(&settings)) return 2;
    CURL *curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : NULL;
    if (curl == NULL || !set_up(curl, &settings)) {
        fprintf(stderr, "%s can't be set up as asked for; does it speak %s?\n", curl_version(),
                settings.h2 ? "HTTP/2" : "HTTP/1.1");
        return 2;
    }
    struct client client = {.curl = curl, .h2 = settings.h2};
    client.ask_once = settings.keep && curl_version_info(CURLVERSION_NOW)->version_num < 0x080000;
    int status = serve(&client, fetch);
    curl_easy_cleanup(curl);
    curl_global_cleanup();
    return status;
}
