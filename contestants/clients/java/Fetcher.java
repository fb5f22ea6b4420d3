import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Fetches one body per line of standard input with java.net.http and answers with a JSON line each. */
public final class Fetcher {
    private final HttpRequest request;
    private final HttpClient client;
    private final byte[] buffer;
    private final boolean count;

    private Fetcher() {
        // Read once, when the client's classes are loaded.
        System.setProperty("jdk.httpclient.bufsize", required("PHOTOFINISH_BUFFER"));
        boolean h2 = required("PHOTOFINISH_PROTOCOL").equals("h2");
        client = HttpClient.newBuilder()
                .version(h2 ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1)
                .build();
        var get = HttpRequest.newBuilder(URI.create(required("PHOTOFINISH_URL")));
        if (!required("PHOTOFINISH_CONNECTION").equals("keep")) {
            get.header("Connection", "close");
        }
        request = get.build();
        buffer = new byte[Integer.parseInt(required("PHOTOFINISH_BUFFER"))];
        count = "1".equals(System.getenv("PHOTOFINISH_COUNT"));
    }

    public static void main(String[] arguments) throws IOException {
        var fetcher = new Fetcher();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        answer("{\"ready\":true}");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answer(fetcher.attempt(line));
        }
        // The client's threads are no reason to stay.
        System.exit(0);
    }

    /** Carries out one line; whatever goes wrong is told and ends only this repetition. */
    private String attempt(String command) {
        boolean save = command.startsWith("save ");
        if (!save && !command.equals("go")) {
            return Json.error("'" + command + "' is no command of a client; it knows 'go' and 'save PATH'");
        }
        long before = count ? Counters.allocatedBytes() : 0;
        try (var sink = save
                ? Files.newOutputStream(Path.of(command.substring("save ".length())))
                : OutputStream.nullOutputStream()) {
            String done = fetch(sink);
            return "{" + done + (count ? Counters.since(before) : "") + "}";
        } catch (IOException | RuntimeException failure) {
            return Json.error(failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return Json.error(interrupted);
        }
    }

    private String fetch(OutputStream sink) throws IOException, InterruptedException {
        var response = client.send(request, BodyHandlers.ofInputStream());
        long received = 0;
        try (var body = response.body()) {
            for (int bytes = body.read(buffer); bytes >= 0; bytes = body.read(buffer)) {
                received += bytes;
                sink.write(buffer, 0, bytes);
            }
        }
        return "\"bytes\":" + received + ",\"status\":" + response.statusCode();
    }

    private static void answer(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static String required(String name) {
        String value = System.getenv(name);
        if (value == null) {
            throw new IllegalStateException(name + " is not set; it is part of the contract");
        }
        return value;
    }
}
