import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** The JDK's own HTTP server; answers GET / with "Hello World!". */
public final class HelloServer {
    private static final byte[] HELLO = "Hello World!".getBytes(StandardCharsets.US_ASCII);

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 3) {
            System.err.println("usage: HelloServer ADDRESS PORT WORKERS");
            System.exit(2);
        }
        int workers = Integer.parseInt(arguments[2]);
        var address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        // A backlog of 0 leaves the choice to the JDK.
        var server = HttpServer.create(address, 0);
        server.createContext("/", HelloServer::hello);
        if (workers > 1) {
            server.setExecutor(Executors.newFixedThreadPool(workers));
        }
        server.start();
    }

    private static void hello(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/plain");
        exchange.sendResponseHeaders(200, HELLO.length);
        try (var body = exchange.getResponseBody()) {
            body.write(HELLO);
        }
    }
}
