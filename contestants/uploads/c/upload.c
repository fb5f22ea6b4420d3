// libcurl-upload: a line `go` on standard input is one upload, and a line of JSON answers it. Settings come from the
// environment (PHOTOFINISH_URL, PHOTOFINISH_FILE, PHOTOFINISH_CONNECTION, PHOTOFINISH_BUFFER).

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/// After so long without a byte in either direction an upload has failed.
static const long SILENCE_S = 5;

struct settings {
  const char *url;
  const char *file;
  bool keep;
  long buffer_bytes;
};

static const char *variable(const char *name) {
  const char *value = getenv(name);
  if (value == NULL || *value == '\0') {
    fprintf(stderr, "libcurl-upload: %s is not set\n", name);
    exit(1);
  }
  return value;
}

static struct settings read_settings(void) {
  struct settings settings = {.url = variable("PHOTOFINISH_URL"), .file = variable("PHOTOFINISH_FILE")};
  const char *connection = variable("PHOTOFINISH_CONNECTION");
  settings.keep = strcmp(connection, "keep") == 0;
  if (!settings.keep && strcmp(connection, "new") != 0) {
    fprintf(stderr, "libcurl-upload: PHOTOFINISH_CONNECTION must be keep or new\n");
    exit(1);
  }
  char *end;
  settings.buffer_bytes = strtol(variable("PHOTOFINISH_BUFFER"), &end, 10);
  // What CURLOPT_UPLOAD_BUFFERSIZE takes; it would bring other values into this range without a word.
  if (*end != '\0' || settings.buffer_bytes < 16384 || settings.buffer_bytes > 2097152) {
    fprintf(stderr, "libcurl-upload: PHOTOFINISH_BUFFER must be 16384 to 2097152 bytes\n");
    exit(1);
  }
  return settings;
}

/// Prints the answer to an upload that failed.
static void answer_error(const char *what) {
  fputs("{\"error\":\"", stdout);
  for (const char *at = what; *at != '\0'; at++) {
    const unsigned char byte = (unsigned char)*at;
    if (byte == '"' || byte == '\\') {
      printf("\\%c", byte);
    } else if (byte < 0x20) {
      printf("\\u%04x", byte);
    } else {
      putchar(byte);
    }
  }
  puts("\"}");
}

static size_t discard(char *data, size_t size, size_t count, void *context) {
  (void)data, (void)context;
  return size * count;
}

static CURL *make_handle(const struct settings *settings, char *error) {
  CURL *curl = curl_easy_init();
  const bool made = curl != NULL && curl_easy_setopt(curl, CURLOPT_URL, settings->url) == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, settings->buffer_bytes) == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard) == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error) == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SILENCE_S) == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, settings->keep ? 0L : 1L) == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, settings->keep ? 0L : 1L) == CURLE_OK;
  if (!made) {
    fprintf(stderr, "libcurl-upload: libcurl took not all settings; is it older than 7.62?\n");
    exit(1);
  }
  return curl;
}

/// Answers the upload of a file that had `file_bytes` bytes; false if its connection can't take another.
static bool answer(CURL *curl, CURLcode code, curl_off_t file_bytes, const struct settings *settings, const char *error) {
  struct stat file;
  // libcurl sends what it finds: of a grown file more than it has declared, and after a shrunk one it waits.
  const bool there = stat(settings->file, &file) == 0;
  if (code != CURLE_OK && there && file.st_size < file_bytes) {
    answer_error("the file shrank while it was sent");
    return false;
  }
  if (code != CURLE_OK) {
    answer_error(*error != '\0' ? error : curl_easy_strerror(code));
    return true;
  }
  curl_off_t declared = 0;
  curl_off_t sent = 0;
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_UPLOAD_T, &declared);
  curl_easy_getinfo(curl, CURLINFO_SIZE_UPLOAD_T, &sent);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (sent > declared) {
    answer_error("the file grew while it was sent, and libcurl sent more than it had declared");
    return false;
  }
  // Of a body that didn't go out whole, these are short of the file's bytes by the tail.
  const curl_off_t bytes = sent - (declared - file_bytes);
  printf("{\"bytes\":%" CURL_FORMAT_CURL_OFF_T ",\"status\":%ld}\n", bytes < 0 ? 0 : bytes, status);
  return true;
}

/// One upload and its answer; false if its connection can't take another.
static bool upload(CURL *curl, const struct settings *settings, char *error) {
  struct stat file;
  if (stat(settings->file, &file) != 0) {
    answer_error("the file is not there");
    return true;
  }
  curl_mime *mime = curl_mime_init(curl);
  curl_mimepart *part = mime == NULL ? NULL : curl_mime_addpart(mime);
  const bool made = part != NULL && curl_mime_name(part, "file") == CURLE_OK &&
                    curl_mime_filedata(part, settings->file) == CURLE_OK &&
                    curl_mime_type(part, "application/octet-stream") == CURLE_OK &&
                    curl_easy_setopt(curl, CURLOPT_MIMEPOST, mime) == CURLE_OK;
  bool usable = true;
  if (made) {
    *error = '\0';
    const CURLcode code = curl_easy_perform(curl);
    usable = answer(curl, code, file.st_size, settings, error);
  } else {
    answer_error("libcurl can't make a form of the file; is it readable?");
  }
  curl_mime_free(mime);
  return usable;
}

int main(void) {
  const struct settings settings = read_settings();
  static char error[CURL_ERROR_SIZE];
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    fprintf(stderr, "libcurl-upload: libcurl can't be initialised\n");
    return 1;
  }
  CURL *curl = make_handle(&settings, error);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  puts("{\"ready\":true}");
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) >= 0) {
    line[strcspn(line, "\r\n")] = '\0';
    if (strcmp(line, "go") == 0) {
      if (!upload(curl, &settings, error)) {
        curl_easy_cleanup(curl);
        curl = make_handle(&settings, error);
      }
    } else {
      answer_error("no such command; an uploader knows go");
    }
  }
  free(line);
  curl_easy_cleanup(curl);
  curl_global_cleanup();
  return 0;
}
