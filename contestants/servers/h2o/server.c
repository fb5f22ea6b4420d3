// h2o-server ADDRESS PORT WORKERS: libh2o on its own event loop, one loop and one listening socket a worker.

#define H2O_USE_LIBUV 0

#include <arpa/inet.h>
#include <h2o.h>
#include <h2o/http1.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct Worker {
  h2o_context_t context;
  h2o_accept_ctx_t accept;
};

static h2o_globalconf_t config;

static int answer(h2o_handler_t *handler, h2o_req_t *request) {
  static h2o_generator_t generator = {NULL, NULL};
  static h2o_iovec_t body = {H2O_STRLIT("Hello World!")};
  (void)handler;
  request->res.status = 200;
  request->res.reason = "OK";
  request->res.content_length = body.len;
  h2o_add_header(&request->pool, &request->res.headers, H2O_TOKEN_CONTENT_TYPE, NULL, H2O_STRLIT("text/plain"));
  h2o_start_response(request, &generator);
  h2o_send(request, &body, 1, H2O_SEND_STATE_FINAL);
  return 0;
}

static void on_connection(h2o_socket_t *listener, const char *error) {
  if (error != NULL) return;
  h2o_socket_t *socket = h2o_evloop_socket_accept(listener);
  if (socket != NULL) h2o_accept(listener->data, socket);
}

static int listen_on(const struct sockaddr_in *address) {
  const int yes = 1;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0 ||
      bind(fd, (const struct sockaddr *)address, sizeof *address) != 0 || listen(fd, 1024) != 0) {
    perror("h2o-server: cannot listen");
    exit(1);
  }
  return fd;
}

static void start_worker(struct Worker *worker, const struct sockaddr_in *address) {
  h2o_context_init(&worker->context, h2o_evloop_create(), &config);
  worker->accept = (h2o_accept_ctx_t){.ctx = &worker->context, .hosts = config.hosts};
  h2o_socket_t *listener = h2o_evloop_socket_create(worker->context.loop, listen_on(address), H2O_SOCKET_FLAG_DONT_READ);
  listener->data = &worker->accept;
  h2o_socket_read_start(listener, on_connection);
}

static void *run(void *worker) {
  while (h2o_evloop_run(((struct Worker *)worker)->context.loop, INT32_MAX) == 0) continue;
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: h2o-server ADDRESS PORT WORKERS\n");
    return 2;
  }
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  const size_t workers = strtoul(argv[3], NULL, 10);
  if (inet_pton(AF_INET, argv[1], &address.sin_addr) != 1 || workers == 0) {
    fprintf(stderr, "h2o-server: %s is not an IPv4 address, or %s no number of workers\n", argv[1], argv[3]);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  h2o_config_init(&config);
  h2o_hostconf_t *host = h2o_config_register_host(&config, h2o_iovec_init(H2O_STRLIT("default")), 65535);
  h2o_create_handler(h2o_config_register_path(host, "/", 0), sizeof(h2o_handler_t))->on_req = answer;

  struct Worker *all = calloc(workers, sizeof *all);
  if (all == NULL) return 1;
  for (size_t i = 0; i < workers; ++i) start_worker(&all[i], &address);
  for (size_t i = 1; i < workers; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &all[i]) != 0) return 1;
  }
  run(&all[0]);
}
