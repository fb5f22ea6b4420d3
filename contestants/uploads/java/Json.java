/** The little JSON that an answer needs. */
final class Json {
    private Json() {}

    /** An answer that tells what went wrong, and why. */
    static String error(Exception failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return error(root == failure ? failure.toString() : failure.getMessage() + ": " + root);
    }

    /** An answer that tells what went wrong. */
    static String error(String text) {
        var json = new StringBuilder("{\"error\":\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                json.append('\\').append(letter);
            } else if (letter < ' ') {
                json.append(String.format("\\u%04x", (int) letter));
            } else {
                json.append(letter);
            }
        }
        return json.append("\"}").toString();
    }
}
