import com.aayushatharva.brotli4j.Brotli4jLoader;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Vert.x HTTP server, one verticle instance an event loop; answers with bodies in memory, coded anew for each request. */
public final class CodingServer extends VerticleBase {
    private static final Pattern ROUTE = Pattern.compile("(?:/level/(\\d{1,2}))?/patients/(\\d+)");

    private final Map<String, byte[]> bodies;

    private CodingServer(Map<String, byte[]> bodies) {
        this.bodies = bodies;
    }

    public static void main(String[] arguments) throws IOException {
        Brotli4jLoader.ensureAvailability();
        Map<String, byte[]> bodies = new TreeMap<>();
        for (String count : new String[] {"1", "4", "16", "64", "512"}) {
            bodies.put(count, Files.readAllBytes(Path.of(told("CORPUS"), "patients-" + count + ".json")));
        }
        int workers = Integer.parseInt(told("WORKERS"));
        var vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(workers));
        vertx.deployVerticle(() -> new CodingServer(bodies), new DeploymentOptions().setInstances(workers))
                .onFailure(failure -> {
                    System.err.println("cannot listen: " + failure.getMessage());
                    System.exit(1);
                });
    }

    private static String told(String name) {
        String value = System.getenv("PHOTOFINISH_" + name);
        if (value == null || value.isEmpty()) {
            System.err.println("PHOTOFINISH_" + name + " is not set");
            System.exit(2);
        }
        return value;
    }

    /** Listens for TLS first: the clear port is the one that is asked whether all is ready. */
    @Override
    public Future<?> start() {
        var identity = new PemKeyCertOptions().addCertPath(told("CERTIFICATE")).addKeyPath(told("KEY"));
        var secured = new HttpServerOptions()
                .setSsl(true)
                .setUseAlpn(true)
                .setEnabledSecureTransportProtocols(Set.of("TLSv1.3"))
                .setKeyCertOptions(identity);
        return vertx.createHttpServer(secured)
                .requestHandler(this::answer)
                .listen(Integer.parseInt(told("TLS_PORT")), told("ADDRESS"))
                .compose(listening -> vertx.createHttpServer()
                        .requestHandler(this::answer)
                        .listen(Integer.parseInt(told("PORT")), told("ADDRESS")));
    }

    private void answer(HttpServerRequest request) {
        var response = request.response();
        Matcher route = ROUTE.matcher(request.path());
        byte[] body = route.matches() ? bodies.get(route.group(2)) : null;
        Coding coding = Coding.choose(request.getHeader("Accept-Encoding"));
        if (body == null) {
            response.setStatusCode(404).end();
            return;
        }
        response.putHeader("Content-Type", "application/json").putHeader("Vary", "Accept-Encoding");
        if (coding == null) {
            response.end(Buffer.buffer(body));
            return;
        }
        int level = route.group(1) == null ? coding.initial : Integer.parseInt(route.group(1));
        if (level < coding.lowest || level > coding.highest) {
            response.setStatusCode(404).end(coding.token + " has no level " + level);
            return;
        }
        try {
            byte[] coded = coding.encode(body, level);
            response.putHeader("Content-Encoding", coding.token).end(Buffer.buffer(coded));
        } catch (IOException failure) {
            response.setStatusCode(500).end(failure.getMessage());
        }
    }
}
