// libmicrohttpd-server ADDRESS PORT WORKERS: epoll in the library's own threads.

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char body[] = "Hello World!";
static struct MHD_Response *response;

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_bytes, void **request) {
  (void)context, (void)url, (void)method, (void)version, (void)upload, (void)upload_bytes;
  // The first call announces a request's head, the second its end, which is where an answer belongs.
  static char seen;
  if (*request == NULL) {
    *request = &seen;
    return MHD_YES;
  }
  return MHD_queue_response(connection, MHD_HTTP_OK, response);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: libmicrohttpd-server ADDRESS PORT WORKERS\n");
    return 2;
  }
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  if (inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
    fprintf(stderr, "libmicrohttpd-server: %s is not an IPv4 address\n", argv[1]);
    return 2;
  }
  response = MHD_create_response_from_buffer(sizeof body - 1, body, MHD_RESPMEM_PERSISTENT);
  if (response == NULL || MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain") != MHD_YES) {
    fprintf(stderr, "libmicrohttpd-server: cannot make the response\n");
    return 1;
  }
  // The library refuses a pool of one; a single worker is its plain internal thread.
  const unsigned int workers = (unsigned int)atoi(argv[3]);
  if (MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer, NULL,
                       MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
                       workers > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, workers, MHD_OPTION_END) == NULL) {
    fprintf(stderr, "libmicrohttpd-server: cannot listen on %s:%s; is the port in use?\n", argv[1], argv[2]);
    return 1;
  }
  for (;;) pause();
}
