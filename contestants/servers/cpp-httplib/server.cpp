// cpp-httplib-server ADDRESS PORT: the library as it comes. It sizes its own pool of threads, so there is no number of
// workers to hand it.

#include <httplib.h>
#include <sys/socket.h>

#include <cstdio>
#include <string>

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: cpp-httplib-server ADDRESS PORT\n");
    return 2;
  }
  httplib::Server server;
  // The library's SO_REUSEPORT would let two servers share a port unnoticed, and can't take one that others used lately.
  server.set_socket_options([](int listener) {
    const int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.Get("/", [](const httplib::Request &, httplib::Response &response) {
    response.set_content("Hello World!", "text/plain");
  });
  if (!server.listen(argv[1], std::stoi(argv[2]))) {
    std::fprintf(stderr, "cpp-httplib-server: cannot listen on %s:%s; is the port in use?\n", argv[1], argv[2]);
    return 1;
  }
}
