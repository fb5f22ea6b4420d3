//! The static table (RFC 7541, Appendix A).

/// Names and values; the entry of index *i* is `ENTRIES[i - 1]`.
pub(super) const ENTRIES: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// The least index whose name is `name`, and whether its value is `value` too; an entry with both goes first.
pub(super) fn find(name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
    let mut named = None;
    for (at, entry) in ENTRIES.iter().enumerate() {
        if entry.0.as_bytes() == name {
            if entry.1.as_bytes() == value {
                return Some((at + 1, true));
            }
            named = named.or(Some((at + 1, false)));
        } else if named.is_some() {
            // Entries of one name stand together.
            break;
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES, find};

    #[test]
    fn every_entry_is_found_and_unknown_values_give_the_first_of_their_name() {
        for (at, (name, value)) in ENTRIES.iter().enumerate() {
            assert_eq!(find(name.as_bytes(), value.as_bytes()), Some((at + 1, true)));
        }
        assert_eq!(find(b":status", b"201"), Some((8, false)));
        assert_eq!(find(b"x-none", b""), None);
    }
}
