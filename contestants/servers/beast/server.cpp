// beast-server ADDRESS PORT WORKERS: one io_context, run by WORKERS threads, a strand for each connection.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
public:
  explicit Session(tcp::socket socket) : stream_(std::move(socket)) {}

  void read() {
    request_ = {};
    stream_.expires_after(std::chrono::seconds(30));
    http::async_read(stream_, buffer_, request_, beast::bind_front_handler(&Session::answer, shared_from_this()));
  }

private:
  void answer(beast::error_code error, std::size_t) {
    if (error == http::error::end_of_stream) {
      stream_.socket().shutdown(tcp::socket::shutdown_send, error);
      return;
    }
    if (error) return;
    response_ = {http::status::ok, request_.version()};
    response_.set(http::field::content_type, "text/plain");
    response_.keep_alive(request_.keep_alive());
    response_.body() = "Hello World!";
    response_.prepare_payload();
    http::async_write(stream_, response_, beast::bind_front_handler(&Session::next, shared_from_this()));
  }

  void next(beast::error_code error, std::size_t) {
    if (error) return;
    if (response_.need_eof()) {
      stream_.socket().shutdown(tcp::socket::shutdown_send, error);
      return;
    }
    read();
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

class Listener {
public:
  Listener(asio::io_context &context, const tcp::endpoint &endpoint)
      : context_(context), acceptor_(context, endpoint) {}

  void accept() {
    acceptor_.async_accept(asio::make_strand(context_), [this](beast::error_code error, tcp::socket socket) {
      // Each connection starts on its own strand: the handler that accepts may run on another thread.
      if (!error) {
        auto executor = socket.get_executor();
        asio::dispatch(executor, [session = std::make_shared<Session>(std::move(socket))] { session->read(); });
      }
      accept();
    });
  }

private:
  asio::io_context &context_;
  tcp::acceptor acceptor_;
};

int main(int argc, char **argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: beast-server ADDRESS PORT WORKERS\n");
    return 2;
  }
  const auto port = static_cast<unsigned short>(std::stoi(argv[2]));
  const int workers = std::stoi(argv[3]);
  asio::io_context context{workers};
  Listener listener{context, {asio::ip::make_address(argv[1]), port}};
  listener.accept();
  std::vector<std::jthread> threads;
  for (int other = 1; other < workers; ++other) threads.emplace_back([&context] { context.run(); });
  context.run();
} catch (const std::exception &error) {
  std::fprintf(stderr, "beast-server: %s\n", error.what());
  return 1;
}
