//! The static table (RFC 9204, Appendix A).

/// Names and values by their index.
pub(super) const ENTRIES: [(&str, &str); 99] = [
    (":authority", ""),
    (":path", "/"),
    ("age", "0"),
    ("content-disposition", ""),
    ("content-length", "0"),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("referer", ""),
    ("set-cookie", ""),
    (":method", "CONNECT"),
    (":method", "DELETE"),
    (":method", "GET"),
    (":method", "HEAD"),
    (":method", "OPTIONS"),
    (":method", "POST"),
    (":method", "PUT"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "103"),
    (":status", "200"),
    (":status", "304"),
    (":status", "404"),
    (":status", "503"),
    ("accept", "*/*"),
    ("accept", "application/dns-message"),
    ("accept-encoding", "gzip, deflate, br"),
    ("accept-ranges", "bytes"),
    ("access-control-allow-headers", "cache-control"),
    ("access-control-allow-headers", "content-type"),
    ("access-control-allow-origin", "*"),
    ("cache-control", "max-age=0"),
    ("cache-control", "max-age=2592000"),
    ("cache-control", "max-age=604800"),
    ("cache-control", "no-cache"),
    ("cache-control", "no-store"),
    ("cache-control", "public, max-age=31536000"),
    ("content-encoding", "br"),
    ("content-encoding", "gzip"),
    ("content-type", "application/dns-message"),
    ("content-type", "application/javascript"),
    ("content-type", "application/json"),
    ("content-type", "application/x-www-form-urlencoded"),
    ("content-type", "image/gif"),
    ("content-type", "image/jpeg"),
    ("content-type", "image/png"),
    ("content-type", "text/css"),
    ("content-type", "text/html; charset=utf-8"),
    ("content-type", "text/plain"),
    ("content-type", "text/plain;charset=utf-8"),
    ("range", "bytes=0-"),
    ("strict-transport-security", "max-age=31536000"),
    ("strict-transport-security", "max-age=31536000; includesubdomains"),
    ("strict-transport-security", "max-age=31536000; includesubdomains; preload"),
    ("vary", "accept-encoding"),
    ("vary", "origin"),
    ("x-content-type-options", "nosniff"),
    ("x-xss-protection", "1; mode=block"),
    (":status", "100"),
    (":status", "204"),
    (":status", "206"),
    (":status", "302"),
    (":status", "400"),
    (":status", "403"),
    (":status", "421"),
    (":status", "425"),
    (":status", "500"),
    ("accept-language", ""),
    ("access-control-allow-credentials", "FALSE"),
    ("access-control-allow-credentials", "TRUE"),
    ("access-control-allow-headers", "*"),
    ("access-control-allow-methods", "get"),
    ("access-control-allow-methods", "get, post, options"),
    ("access-control-allow-methods", "options"),
    ("access-control-expose-headers", "content-length"),
    ("access-control-request-headers", "content-type"),
    ("access-control-request-method", "get"),
    ("access-control-request-method", "post"),
    ("alt-svc", "clear"),
    ("authorization", ""),
    ("content-security-policy", "script-src 'none'; object-src 'none'; base-uri 'none'"),
    ("early-data", "1"),
    ("expect-ct", ""),
    ("forwarded", ""),
    ("if-range", ""),
    ("origin", ""),
    ("purpose", "prefetch"),
    ("server", ""),
    ("timing-allow-origin", "*"),
    ("upgrade-insecure-requests", "1"),
    ("user-agent", ""),
    ("x-forwarded-for", ""),
    ("x-frame-options", "deny"),
    ("x-frame-options", "sameorigin"),
];

const LONGEST_NAME: usize = 32;

/// Indices sorted by the length of their names, then by themselves; and where each length begins.
const fn by_length() -> ([u8; 99], [u8; LONGEST_NAME + 2]) {
    let (mut sorted, mut begins) = ([0; 99], [0; LONGEST_NAME + 2]);
    let (mut length, mut used) = (0, 0);
    while length <= LONGEST_NAME {
        begins[length] = used as u8;
        let mut index = 0;
        while index < ENTRIES.len() {
            if ENTRIES[index].0.len() == length {
                sorted[used] = index as u8;
                used += 1;
            }
            index += 1;
        }
        length += 1;
    }
    begins[length] = used as u8;
    (sorted, begins)
}

static BY_LENGTH: ([u8; 99], [u8; LONGEST_NAME + 2]) = by_length();

/// The least index whose name is `name`, and whether its value is `value` too; an entry with both goes first.
pub(super) fn find(name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
    let (sorted, begins) = &BY_LENGTH;
    if name.len() > LONGEST_NAME {
        return None;
    }
    let mut named = None;
    for &index in &sorted[usize::from(begins[name.len()])..usize::from(begins[name.len() + 1])] {
        let entry = &ENTRIES[usize::from(index)];
        if entry.0.as_bytes() == name {
            if entry.1.as_bytes() == value {
                return Some((usize::from(index), true));
            }
            named = named.or(Some((usize::from(index), false)));
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::{BY_LENGTH, ENTRIES, LONGEST_NAME, find};

    #[test]
    fn every_entry_is_found_and_unknown_values_give_the_first_of_their_name() {
        for (index, (name, value)) in ENTRIES.iter().enumerate() {
            assert_eq!(find(name.as_bytes(), value.as_bytes()), Some((index, true)));
        }
        assert_eq!(find(b":status", b"201"), Some((24, false)));
        assert_eq!(find(b"content-type", b"x/y"), Some((44, false)));
        assert_eq!((find(b"x-none", b""), find(&[b'a'; 100], b""), find(b"", b"")), (None, None, None));
    }

    #[test]
    fn no_entry_is_left_out_of_the_order_by_length() {
        assert_eq!(usize::from(BY_LENGTH.1[LONGEST_NAME + 1]), ENTRIES.len());
    }
}
