//! From the path to what is wanted.

use photofinish_http::payload;

/// How the paths begin whose responses are encoded.
const CODED: [&[u8]; 4] = [b"/patients/", b"/corpus/", b"/level/", b"/dictionary/"];

/// A resource of the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// `/`
    Hello,
    /// `/info`
    Info,
    /// `/test/<size>`, in bytes
    Test(u64),
    /// `/test/<size>` with a size of zero or below, or beyond [`payload::MOST_BODY_BYTES`]
    BadSize,
    /// `/upload`
    Upload,
    /// `/trials/<id>`, with the id as it stands there
    Trial(&'a [u8]),
    /// `/patients/…`, `/corpus/…`, `/dictionary/…`, and `/level/<level>/` before these; the whole path
    Coded(&'a [u8]),
    /// Anything else
    Unknown,
}

impl<'a> Route<'a> {
    /// The route of `target`, and its query.
    #[inline]
    pub fn of(target: &'a [u8]) -> (Self, Query<'a>) {
        if target == b"/" {
            return (Self::Hello, Query(&[]));
        }
        let (path, query) = match memchr::memchr(b'?', target) {
            Some(at) => (&target[..at], &target[at + 1..]),
            None => (target, &[][..]),
        };
        let route = match path {
            b"/" => Self::Hello,
            b"/info" => Self::Info,
            b"/upload" => Self::Upload,
            _ => match (path.strip_prefix(b"/test/"), path.strip_prefix(b"/trials/")) {
                (Some(text), _) => size(text),
                (_, Some(id)) => Self::Trial(id),
                _ if CODED.iter().any(|prefix| path.starts_with(prefix)) => Self::Coded(path),
                _ => Self::Unknown,
            },
        };
        (route, Query(query))
    }
}

/// The part of a target behind the question mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Query<'a>(&'a [u8]);

impl<'a> Query<'a> {
    /// The value of the first pair `name=value`, as it stands there: no value of ours needs an escape.
    pub fn get(self, name: &str) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let value = |pair: &'a [u8]| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
        self.0.split(|&byte| byte == b'&').find_map(value)
    }
}

/// A byte count (`4096`) or a number of binary units (`10k`, `1M`, `1g`).
fn size(text: &[u8]) -> Route<'_> {
    let (digits, unit) = match text {
        [digits @ .., b'k' | b'K'] => (digits, 1 << 10),
        [digits @ .., b'm' | b'M'] => (digits, 1 << 20),
        [digits @ .., b'g' | b'G'] => (digits, 1 << 30),
        digits => (digits, 1),
    };
    let (digits, negative) = digits.strip_prefix(b"-").map_or((digits, false), |digits| (digits, true));
    let Some(number) = decimal(digits) else { return Route::Unknown };
    match number.saturating_mul(unit) {
        bytes @ 1..=payload::MOST_BODY_BYTES if !negative => Route::Test(bytes),
        _ => Route::BadSize,
    }
}

/// The number that `digits` write, or the largest there is; `None` if they are none.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    let all = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    all.then(|| digits.iter().fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn sizes_are_plain_bytes_or_binary_units_in_either_case() {
        let sizes = [
            (&b"/test/1k"[..], 1 << 10),
            (b"/test/10K", 10 << 10),
            (b"/test/100k", 100 << 10),
            (b"/test/1m", 1 << 20),
            (b"/test/10M", 10 << 20),
            (b"/test/50m", 50 << 20),
            (b"/test/100m", 100 << 20),
            (b"/test/1024m", 1 << 30),
            (b"/test/1g", 1 << 30),
            (b"/test/1", 1),
            (b"/test/12345?x=y", 12345),
        ];
        for (target, bytes) in sizes {
            assert_eq!(Route::of(target).0, Route::Test(bytes));
        }
    }

    #[test]
    fn sizes_that_can_not_be_served_are_told_from_unknown_paths() {
        for target in ["/test/0", "/test/-5", "/test/2g", "/test/1073741825", "/test/99999999999999999999999k"] {
            assert_eq!(Route::of(target.as_bytes()).0, Route::BadSize, "{target}");
        }
        for target in ["/test/", "/test", "/test/k", "/test/1t", "/test/1 k", "/x", "/info/", "*", "/test/1k/2"] {
            assert_eq!(Route::of(target.as_bytes()).0, Route::Unknown, "{target}");
        }
    }

    #[test]
    fn uploads_and_trials_are_told_apart_with_their_queries() {
        let (route, query) = Route::of(b"/upload?hash=sha256&trial=r0-go&trial=second&empty=&bare");
        assert_eq!(route, Route::Upload);
        assert_eq!(query.get("trial"), Some(&b"r0-go"[..]));
        assert_eq!(query.get("hash"), Some(&b"sha256"[..]));
        assert_eq!((query.get("empty"), query.get("bare"), query.get("tri")), (Some(&b""[..]), None, None));
        assert_eq!(Route::of(b"/trials/a~b?mode=count").0, Route::Trial(b"a~b"));
        assert_eq!(Route::of(b"/upload/").0, Route::Unknown);
    }
}
