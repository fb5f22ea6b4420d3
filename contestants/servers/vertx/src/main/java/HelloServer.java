import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;

/** Vert.x HTTP server, one verticle instance an event loop; answers GET / with "Hello World!". */
public final class HelloServer extends VerticleBase {
    private final String address;
    private final int port;

    private HelloServer(String address, int port) {
        this.address = address;
        this.port = port;
    }

    public static void main(String[] arguments) {
        if (arguments.length != 3) {
            System.err.println("usage: HelloServer ADDRESS PORT WORKERS");
            System.exit(2);
        }
        String address = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        int workers = Integer.parseInt(arguments[2]);
        var vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(workers));
        vertx.deployVerticle(() -> new HelloServer(address, port), new DeploymentOptions().setInstances(workers))
                .onFailure(failure -> {
                    System.err.println("cannot listen on " + address + ":" + port + ": " + failure.getMessage());
                    System.exit(1);
                });
    }

    @Override
    public Future<?> start() {
        return vertx.createHttpServer()
                .requestHandler(request ->
                        request.response().putHeader("Content-Type", "text/plain").end("Hello World!"))
                .listen(port, address);
    }
}
