import com.aayushatharva.brotli4j.encoder.Encoder;
import com.github.luben.zstd.ZstdCompressCtx;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Locale;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;

/** A content coding and its levels; in the order in which they are preferred where the client has no preference. */
enum Coding {
    ZSTD("zstd", 1, 22, 3),
    BR("br", 0, 11, 4),
    GZIP("gzip", 1, 9, 6),
    DEFLATE("deflate", 1, 9, 6);

    /** One context an event loop: contexts are not shared, and a new one for each body would cost more than a small body. */
    private static final ThreadLocal<ZstdCompressCtx> CONTEXT = ThreadLocal.withInitial(ZstdCompressCtx::new);

    final String token;
    final int lowest;
    final int highest;
    final int initial;

    Coding(String token, int lowest, int highest, int initial) {
        this.token = token;
        this.lowest = lowest;
        this.highest = highest;
        this.initial = initial;
    }

    byte[] encode(byte[] body, int level) throws IOException {
        return switch (this) {
            case ZSTD -> CONTEXT.get().setLevel(level).compress(body);
            case BR -> Encoder.compress(body, new Encoder.Parameters().setQuality(level));
            case GZIP -> gzip(body, level);
            case DEFLATE -> deflate(body, level);
        };
    }

    private static byte[] gzip(byte[] body, int level) throws IOException {
        var coded = new ByteArrayOutputStream(body.length / 2 + 64);
        try (var stream = new GZIPOutputStream(coded) {
            {
                def.setLevel(level);
            }
        }) {
            stream.write(body);
        }
        return coded.toByteArray();
    }

    private static byte[] deflate(byte[] body, int level) throws IOException {
        var coded = new ByteArrayOutputStream(body.length / 2 + 64);
        var deflater = new Deflater(level);
        try (var stream = new DeflaterOutputStream(coded, deflater)) {
            stream.write(body);
        } finally {
            deflater.end();
        }
        return coded.toByteArray();
    }

    /** The coding with the highest q-value; null for none: no Accept-Encoding, or nothing there that is known. */
    static Coding choose(String accepted) {
        if (accepted == null) {
            return null;
        }
        String[] elements = accepted.toLowerCase(Locale.ROOT).split(",");
        Coding chosen = null;
        double best = 0;
        for (Coding each : values()) {
            double quality = qualityOf(each.token, elements);
            if (quality > best) {
                chosen = each;
                best = quality;
            }
        }
        return qualityOf("identity", elements) > best ? null : chosen;
    }

    /** The q-value of a coding, 0 where it is not named. */
    private static double qualityOf(String token, String[] elements) {
        for (String element : elements) {
            String[] parts = element.split(";");
            if (!parts[0].strip().equals(token)) {
                continue;
            }
            if (parts.length == 1) {
                return 1;
            }
            try {
                return Double.parseDouble(parts[1].substring(parts[1].indexOf('=') + 1).strip());
            } catch (NumberFormatException failure) {
                return 0;
            }
        }
        return 0;
    }
}
