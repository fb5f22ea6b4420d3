//! Which coding a response has: RFC 9110, section 12.5.3.

use super::Coding;

/// Weights in thousandths.
const FULL: u16 = 1000;

/// What the server may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The response in this coding.
    Send(Coding),
    /// Nothing that there is may be sent: 406.
    NotAcceptable,
}

/// What the field says of the codings that there are.
#[derive(Clone, Copy, Debug, Default)]
struct Weights {
    /// In the order of [`Coding::ALL`]; none: not listed.
    listed: [Option<u16>; Coding::ALL.len()],
    /// Of `*`.
    others: Option<u16>,
}

/// Chooses among `available`, which stand in the order of the server's preference; identity need not stand there.
///
/// `accept_encoding` is the field's value, lines joined by commas; none: there is no such field.
///
/// - Without the field any coding is acceptable: the response goes as it is, which every client can read.
/// - The highest weight wins, of equal ones the server's first, and identity last. `gzip;q=0.5` alone prefers gzip to
///   identity, which is acceptable without being listed, but weighs nothing.
/// - `*` is for every coding that is not listed, identity included; a weight of 0 is "not acceptable".
/// - Identity is acceptable unless `identity;q=0`, or `*;q=0` without a listed identity, excludes it. Where nothing else
///   is acceptable it is sent; where it isn't either, nothing can be.
/// - A list element that the grammar does not allow is ignored, as is an unknown coding. Of two elements for one coding the
///   first counts.
#[must_use]
pub fn negotiate(accept_encoding: Option<&[u8]>, available: &[Coding]) -> Choice {
    let Some(value) = accept_encoding else { return Choice::Send(Coding::Identity) };
    let weights = Weights::of(value);
    let mut best = None;
    for &coding in available.iter().filter(|&&coding| coding != Coding::Identity) {
        let weight = weights.listed[coding as usize].or(weights.others).unwrap_or(0);
        if weight > best.map_or(0, |(most, _)| most) {
            best = Some((weight, coding));
        }
    }
    let identity = weights.listed[Coding::Identity as usize].or(weights.others);
    match (best, identity) {
        (Some((weight, _)), Some(identity)) if identity > weight => Choice::Send(Coding::Identity),
        (Some((_, coding)), _) => Choice::Send(coding),
        (None, Some(0)) => Choice::NotAcceptable,
        (None, _) => Choice::Send(Coding::Identity),
    }
}

impl Weights {
    fn of(value: &[u8]) -> Self {
        let mut weights = Self::default();
        for element in value.split(|&byte| byte == b',') {
            let Some((name, weight)) = read(element.trim_ascii()) else { continue };
            let slot = match name {
                b"*" => &mut weights.others,
                _ => match Coding::named(name) {
                    Some(coding) => &mut weights.listed[coding as usize],
                    None => continue,
                },
            };
            slot.get_or_insert(weight);
        }
        weights
    }
}

/// A list element: a coding's name, and its weight; `None` if it is empty or not of this form.
fn read(element: &[u8]) -> Option<(&[u8], u16)> {
    let Some(semicolon) = memchr::memchr(b';', element) else {
        return is_token(element).then_some((element, FULL));
    };
    let (name, parameter) = (element[..semicolon].trim_ascii_end(), element[semicolon + 1..].trim_ascii_start());
    let value = parameter.strip_prefix(b"q=").or_else(|| parameter.strip_prefix(b"Q="))?;
    let weight = qvalue(value)?;
    is_token(name).then_some((name, weight))
}

/// `( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )`, in thousandths (RFC 9110, section 12.4.2).
fn qvalue(text: &[u8]) -> Option<u16> {
    let (whole, fraction) = text.split_first()?;
    let digits = match fraction {
        [] => &[][..],
        [b'.', digits @ ..] if digits.len() <= 3 => digits,
        _ => return None,
    };
    let scale = [100, 10, 1];
    let thousandths = digits.iter().zip(scale).try_fold(0_u16, |sum, (&digit, scale)| {
        digit.is_ascii_digit().then(|| sum + u16::from(digit - b'0') * scale)
    })?;
    match (whole, thousandths) {
        (b'0', _) => Some(thousandths),
        (b'1', 0) => Some(FULL),
        _ => None,
    }
}

/// RFC 9110, section 5.6.2.
fn is_token(text: &[u8]) -> bool {
    let is_tchar = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(is_tchar)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Choice::{NotAcceptable, Send};
    use super::Coding::{Br, Dcz, Deflate, Gzip, Identity, Zstd};
    use super::{Choice, Coding, negotiate, qvalue};

    const AVAILABLE: [Coding; 4] = [Zstd, Br, Gzip, Deflate];

    fn chosen(value: &str) -> Choice {
        negotiate(Some(value.as_bytes()), &AVAILABLE)
    }

    #[test]
    fn without_the_field_the_response_goes_as_it_is() {
        assert_eq!(negotiate(None, &AVAILABLE), Send(Identity));
    }

    #[test]
    fn an_empty_field_asks_for_no_coding() {
        for empty in ["", " ", ",", " , ,"] {
            assert_eq!(chosen(empty), Send(Identity), "{empty:?}");
        }
    }

    #[test]
    fn a_listed_coding_is_acceptable_unless_its_weight_is_zero() {
        assert_eq!(chosen("gzip"), Send(Gzip));
        assert_eq!(chosen("gzip;q=0"), Send(Identity));
        assert_eq!(chosen("gzip;q=0.001"), Send(Gzip));
        assert_eq!(chosen("gzip;q=0.000, br;q=0."), Send(Identity));
    }

    #[test]
    fn the_highest_weight_is_preferred() {
        assert_eq!(chosen("gzip;q=1.0, br;q=0.8, zstd;q=0.999"), Send(Gzip));
        assert_eq!(chosen("compress;q=0.5, gzip;q=0.2, deflate;q=0.3"), Send(Deflate));
        assert_eq!(chosen("identity;q=0.5, gzip;q=0.4"), Send(Identity));
        assert_eq!(chosen("identity;q=0.5, gzip;q=0.6"), Send(Gzip));
    }

    #[test]
    fn equal_weights_leave_the_choice_to_the_server_and_identity_last() {
        assert_eq!(chosen("gzip, deflate, br, zstd"), Send(Zstd));
        assert_eq!(chosen("gzip, deflate, br"), Send(Br));
        assert_eq!(chosen("identity, gzip"), Send(Gzip));
        assert_eq!(negotiate(Some(b"gzip, dcz"), &[Dcz, Gzip]), Send(Dcz));
    }

    #[test]
    fn the_asterisk_matches_what_is_not_listed() {
        assert_eq!(chosen("*"), Send(Zstd));
        assert_eq!(chosen("zstd;q=0, *"), Send(Br));
        assert_eq!(chosen("gzip, *;q=0.5"), Send(Gzip));
        assert_eq!(chosen("gzip, *;q=0"), Send(Gzip));
        assert_eq!(chosen("identity, *;q=0"), Send(Identity));
        assert_eq!(chosen("br;q=0, zstd;q=0, gzip;q=0, deflate;q=0, *"), Send(Identity));
    }

    #[test]
    fn identity_is_acceptable_unless_it_is_excluded() {
        assert_eq!(chosen("compress"), Send(Identity));
        assert_eq!(chosen("identity;q=0"), NotAcceptable);
        assert_eq!(chosen("*;q=0"), NotAcceptable);
        assert_eq!(chosen("compress, *;q=0"), NotAcceptable);
        assert_eq!(chosen("identity;q=0, compress"), NotAcceptable);
        assert_eq!(chosen("identity;q=0, gzip"), Send(Gzip));
        assert_eq!(chosen("identity;q=0.1, *;q=0"), Send(Identity));
        assert_eq!(chosen("identity;q=0, *"), Send(Zstd));
    }

    #[test]
    fn names_ignore_case_and_x_gzip_is_gzip() {
        assert_eq!(chosen("GZip"), Send(Gzip));
        assert_eq!(chosen("x-gzip"), Send(Gzip));
        assert_eq!(chosen("IDENTITY;Q=0"), NotAcceptable);
    }

    #[test]
    fn optional_white_space_may_stand_around_commas_and_semicolons() {
        assert_eq!(chosen(" gzip ; q=0.5 ,\tbr ;\tq=0.6 "), Send(Br));
    }

    #[test]
    fn elements_that_the_grammar_does_not_allow_are_ignored() {
        for wrong in [
            "br;q=1.001",
            "br;q=2",
            "br;q=",
            "br;q",
            "br;level=5",
            "br;q=.5",
            "br;q=0.1234",
            "b r",
            "br;q=-1",
            ";q=1",
            "br;q=0 .5",
        ] {
            assert_eq!(chosen(wrong), Send(Identity), "{wrong}");
            assert_eq!(chosen(&format!("{wrong}, gzip;q=0.1")), Send(Gzip), "{wrong}");
        }
    }

    #[test]
    fn of_two_elements_for_one_coding_the_first_counts() {
        assert_eq!(chosen("gzip;q=0, gzip"), Send(Identity));
        assert_eq!(chosen("gzip, x-gzip;q=0"), Send(Gzip));
    }

    #[test]
    fn codings_that_are_not_available_are_never_chosen() {
        assert_eq!(negotiate(Some(b"br, gzip;q=0.1"), &[Gzip]), Send(Gzip));
        assert_eq!(negotiate(Some(b"br"), &[]), Send(Identity));
        assert_eq!(negotiate(Some(b"br, identity;q=0"), &[Gzip]), NotAcceptable);
    }

    /// The rules once more, coding by coding instead of by the best of all.
    fn acceptable(elements: &[(&str, u16)], coding: Coding) -> Option<u16> {
        let of = |name: &str| elements.iter().find(|(listed, _)| *listed == name).map(|&(_, weight)| weight);
        match of(coding.name()).or_else(|| of("*")) {
            Some(0) => None,
            Some(weight) => Some(weight),
            None => (coding == Identity).then_some(0),
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = negotiate(Some(&bytes), &AVAILABLE);
        }

        #[test]
        fn what_is_chosen_is_acceptable_and_nothing_acceptable_weighs_more(
            elements in prop::collection::vec(
                (prop::sample::select(vec!["gzip", "br", "zstd", "deflate", "identity", "*", "compress"]), 0_u16..=1000),
                0..6,
            ),
        ) {
            let text: Vec<String> =
                elements.iter().map(|(name, weight)| format!("{name};q={}.{:03}", weight / 1000, weight % 1000)).collect();
            let weights = || AVAILABLE.into_iter().chain([Identity]).filter_map(|coding| acceptable(&elements, coding));
            match chosen(&text.join(", ")) {
                NotAcceptable => prop_assert_eq!(weights().count(), 0),
                Send(coding) => prop_assert_eq!(acceptable(&elements, coding), weights().max()),
            }
        }

        #[test]
        fn weights_are_read_as_written(thousandths in 0_u16..=1000) {
            let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
            prop_assert_eq!(qvalue(text.as_bytes()), Some(thousandths));
        }
    }
}
