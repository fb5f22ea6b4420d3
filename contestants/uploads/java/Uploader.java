import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** Uploads one file per line of standard input with java.net.http and answers with a JSON line each. */
public final class Uploader {
    private final URI url;
    private final Path file;
    private final boolean keep;
    private final HttpClient client;

    private Uploader() {
        url = URI.create(required("PHOTOFINISH_URL"));
        file = Path.of(required("PHOTOFINISH_FILE"));
        keep = required("PHOTOFINISH_CONNECTION").equals("keep");
        // Read once, when the client's classes are loaded.
        System.setProperty("jdk.httpclient.bufsize", required("PHOTOFINISH_BUFFER"));
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    public static void main(String[] arguments) throws IOException {
        var uploader = new Uploader();
        var count = "1".equals(System.getenv("PHOTOFINISH_COUNT"));
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        answer("{\"ready\":true}");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answer(uploader.attempt(line.strip(), count));
        }
        // The client's threads are no reason to stay.
        System.exit(0);
    }

    /** Carries out one line; whatever goes wrong is told and ends only this repetition. */
    private String attempt(String command, boolean count) {
        if (!command.equals("go")) {
            return Json.error("'" + command + "' is no command of an uploader; it knows 'go'");
        }
        long before = count ? Counters.allocatedBytes() : 0;
        try {
            String done = upload();
            return "{" + done + (count ? Counters.since(before) : "") + "}";
        } catch (IOException | RuntimeException failure) {
            return Json.error(failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return Json.error(interrupted);
        }
    }

    private String upload() throws IOException, InterruptedException {
        String boundary = UUID.randomUUID().toString();
        byte[] head = ("--" + boundary + "\r\n"
                + "Content-Disposition: form-data; name=\"file\"; filename=\"" + file.getFileName() + "\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n").getBytes(StandardCharsets.UTF_8);
        byte[] tail = ("\r\n--" + boundary + "--\r\n").getBytes(StandardCharsets.UTF_8);
        long fileBytes = Files.size(file);
        var body = BodyPublishers.concat(
                BodyPublishers.ofByteArray(head), BodyPublishers.ofFile(file), BodyPublishers.ofByteArray(tail));
        var request = HttpRequest.newBuilder(url)
                .header("Content-Type", "multipart/form-data; boundary=" + boundary)
                .POST(body);
        if (!keep) {
            request.header("Connection", "close");
        }
        var response = client.send(request.build(), BodyHandlers.ofByteArray());
        return "\"bytes\":" + fileBytes + ",\"status\":" + response.statusCode();
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
