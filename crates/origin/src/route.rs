//! From the path to what is wanted.

use photofinish_http::payload;

/// A resource of the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/`
    Hello,
    /// `/info`
    Info,
    /// `/test/<size>`, in bytes
    Test(usize),
    /// `/test/<size>` with a size of zero or below, or beyond [`payload::MOST_BYTES`]
    BadSize,
    /// Anything else
    Unknown,
}

impl Route {
    /// The route of `target`; a query is ignored.
    #[inline]
    pub fn of(target: &[u8]) -> Self {
        if target == b"/" {
            return Self::Hello;
        }
        let path = target.split(|&byte| byte == b'?').next().unwrap_or(target);
        match path {
            b"/" => Self::Hello,
            b"/info" => Self::Info,
            _ => path.strip_prefix(b"/test/").map_or(Self::Unknown, size),
        }
    }
}

/// A byte count (`4096`) or a number of binary units (`10k`, `1M`).
fn size(text: &[u8]) -> Route {
    let (digits, unit) = match text {
        [digits @ .., b'k' | b'K'] => (digits, 1 << 10),
        [digits @ .., b'm' | b'M'] => (digits, 1 << 20),
        digits => (digits, 1),
    };
    let (digits, negative) = digits.strip_prefix(b"-").map_or((digits, false), |digits| (digits, true));
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Route::Unknown;
    }
    let number = digits
        .iter()
        .try_fold(0_usize, |sum, digit| sum.checked_mul(10)?.checked_add(usize::from(digit - b'0')))
        .and_then(|number| number.checked_mul(unit));
    match number {
        Some(bytes @ 1..=payload::MOST_BYTES) if !negative => Route::Test(bytes),
        _ => Route::BadSize,
    }
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
            (b"/test/1", 1),
            (b"/test/12345?x=y", 12345),
        ];
        for (target, bytes) in sizes {
            assert_eq!(Route::of(target), Route::Test(bytes));
        }
    }

    #[test]
    fn sizes_that_can_not_be_served_are_told_from_unknown_paths() {
        for target in ["/test/0", "/test/-5", "/test/101m", "/test/104857601", "/test/99999999999999999999999k"] {
            assert_eq!(Route::of(target.as_bytes()), Route::BadSize, "{target}");
        }
        for target in ["/test/", "/test", "/test/k", "/test/1g", "/test/1 k", "/x", "/info/", "*", "/test/1k/2"] {
            assert_eq!(Route::of(target.as_bytes()), Route::Unknown, "{target}");
        }
    }
}
