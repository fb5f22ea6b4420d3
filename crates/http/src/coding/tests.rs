use proptest::prelude::*;

use super::{Coding, ContentEncoding, DecodeError, Decoder, Dictionary, EncodeError, Encoder, Setting, SettingError};

const MOST: usize = 4 << 20;

fn patients(count: u32) -> &'static [u8] {
    match count {
        1 => include_bytes!("../../../../corpus/patients-1.json"),
        4 => include_bytes!("../../../../corpus/patients-4.json"),
        _ => include_bytes!("../../../../corpus/patients-16.json"),
    }
}

fn dictionary() -> Dictionary {
    Dictionary::new(patients(4)).expect("a dictionary")
}

fn encoded(setting: Setting, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let dictionary = setting.coding().needs_dictionary().then(dictionary);
    Encoder::default().encode(setting, dictionary.as_ref(), bytes, &mut out).expect("memory");
    out
}

fn decoded(coding: Coding, bytes: &[u8], most: usize) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    let dictionary = coding.needs_dictionary().then(dictionary);
    Decoder::default().decode(coding, dictionary.as_ref(), bytes, most, &mut out).map(|()| out)
}

fn every_setting() -> impl Iterator<Item = Setting> {
    Coding::ALL.into_iter().flat_map(|coding| {
        let levels: Vec<Option<u64>> =
            coding.levels().map_or(vec![None], |range| range.map(|level| Some(level.into())).collect());
        let windows: Vec<Option<u64>> = coding
            .windows()
            .map_or(vec![None], |range| [None, Some((*range.start()).into()), Some((*range.end()).into())].into());
        levels.into_iter().flat_map(move |level| {
            let windows = windows.clone();
            windows.into_iter().map(move |window| Setting::new(coding, level, window).expect("a setting"))
        })
    })
}

#[test]
fn every_coding_at_every_level_and_window_brings_the_body_back() {
    let (mut encoder, mut decoder, dictionary) = (Encoder::default(), Decoder::default(), dictionary());
    for setting in every_setting() {
        for body in [patients(16), patients(1), b"", b"x"] {
            let (mut there, mut back) = (b"before".to_vec(), b"before".to_vec());
            encoder.encode(setting, Some(&dictionary), body, &mut there).expect("memory");
            let stream = there.strip_prefix(b"before").expect("appended");
            decoder.decode(setting.coding(), Some(&dictionary), stream, body.len(), &mut back).expect("its own output");
            assert_eq!(back.strip_prefix(b"before"), Some(body), "{setting:?}");
            if body.len() > 900 && setting.coding() != Coding::Identity {
                assert!(stream.len() < body.len() * 3 / 4, "{setting:?}: {}", stream.len());
            }
        }
    }
}

#[test]
fn higher_levels_and_a_dictionary_make_bodies_shorter() {
    let length = |coding, level| encoded(Setting::new(coding, Some(level), None).expect("a level"), patients(16)).len();
    assert!(length(Coding::Gzip, 9) < length(Coding::Gzip, 1));
    assert!(length(Coding::Br, 11) < length(Coding::Br, 1));
    assert!(length(Coding::Zstd, 19) < length(Coding::Zstd, 1));
    let alone = |coding| encoded(Setting::default_of(coding), patients(1)).len();
    assert!(alone(Coding::Dcz) < alone(Coding::Zstd) * 3 / 4);
    assert!(alone(Coding::Dcb) < alone(Coding::Br) * 3 / 4);
}

#[test]
fn formats_are_those_of_the_standards() {
    let begin = |coding| encoded(Setting::default_of(coding), patients(16))[..8].to_vec();
    assert_eq!(begin(Coding::Gzip)[..3], [0x1f, 0x8b, 8]);
    let zlib = begin(Coding::Deflate);
    assert_eq!((zlib[0] & 0x0f, u16::from_be_bytes([zlib[0], zlib[1]]) % 31), (8, 0));
    assert_eq!(begin(Coding::Zstd)[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    let digest = dictionary().digest();
    for (coding, magic) in [(Coding::Dcb, &b"\xffDCB"[..]), (Coding::Dcz, b"\x5e\x2a\x4d\x18\x20\0\0\0")] {
        let body = encoded(Setting::default_of(coding), patients(16));
        assert_eq!(body.strip_prefix(magic).map(|rest| &rest[..32]), Some(&digest[..]));
    }
    // Brotli has no magic; this is the body of RFC 7932's empty stream.
    assert_eq!(decoded(Coding::Br, &[0x06], 0), Ok(Vec::new()));
}

#[test]
fn nothing_is_decoded_beyond_what_is_allowed() {
    let zeros = vec![0; MOST];
    for coding in Coding::ALL {
        let bomb = encoded(Setting::default_of(coding), &zeros);
        for most in [0, 1, 1000, MOST - 1] {
            assert_eq!(decoded(coding, &bomb, most), Err(DecodeError::TooLong { most }), "{coding}");
        }
        assert_eq!(decoded(coding, &bomb, MOST).map(|body| body.len()), Ok(MOST), "{coding}");
    }
}

#[test]
fn a_frame_that_hides_its_length_is_bounded_all_the_same() {
    // A frame of run-length blocks of 128 KiB each: four bytes a block, no content size in the header.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for last in [0_u32, 0, 0, 1] {
        frame.extend_from_slice(&(last | 1 << 1 | (128 << 10) << 3).to_le_bytes()[..3]);
        frame.push(b'z');
    }
    assert_eq!(decoded(Coding::Zstd, &frame, 600 << 10).map(|body| body.len()), Ok(512 << 10));
    let most = 300 << 10;
    assert_eq!(decoded(Coding::Zstd, &frame, most), Err(DecodeError::TooLong { most }));
}

#[test]
fn a_body_that_ends_early_or_goes_on_is_no_body() {
    for coding in Coding::ALL.into_iter().filter(|&coding| coding != Coding::Identity) {
        let whole = encoded(Setting::default_of(coding), patients(16));
        for cut in [0, 1, 5, 41, whole.len() / 2, whole.len() - 1] {
            assert!(decoded(coding, &whole[..cut], MOST).is_err(), "{coding} cut to {cut}");
        }
        let longer = [&whole[..], b"more"].concat();
        assert_eq!(decoded(coding, &longer, MOST), Err(DecodeError::Trailing { coding, bytes: 4 }), "{coding}");
        let mut broken = whole.clone();
        broken[whole.len() / 2] ^= 0x55;
        assert_ne!(decoded(coding, &broken, MOST).as_deref(), Ok(patients(16)), "{coding}");
    }
    assert_eq!(decoded(Coding::Br, b"", MOST), Err(DecodeError::Truncated(Coding::Br)));
    assert_eq!(decoded(Coding::Zstd, b"", MOST), Err(DecodeError::Truncated(Coding::Zstd)));
    assert_eq!(decoded(Coding::Zstd, b"plain text", MOST), Err(DecodeError::Broken(Coding::Zstd)));
}

#[test]
fn several_gzip_members_and_zstandard_frames_are_one_body() {
    for coding in [Coding::Gzip, Coding::Zstd] {
        let half = encoded(Setting::default_of(coding), patients(4));
        let body = decoded(coding, &[&half[..], &half].concat(), MOST).expect("two members");
        assert_eq!(body, [patients(4), patients(4)].concat(), "{coding}");
    }
    let skippable =
        [&b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..], &encoded(Setting::default_of(Coding::Zstd), b"body")].concat();
    assert_eq!(decoded(Coding::Zstd, &skippable, MOST).as_deref(), Ok(&b"body"[..]));
}

#[test]
fn a_bare_deflate_stream_is_told_by_its_name() {
    let zlib = encoded(Setting::default_of(Coding::Deflate), patients(4));
    let raw = &zlib[2..zlib.len() - 4];
    assert_eq!(decoded(Coding::Deflate, raw, MOST), Err(DecodeError::RawDeflate));
}

#[test]
fn windows_beyond_eight_mebibytes_are_refused_and_never_made() {
    // The header of a frame that asks for 2^24 bytes, then an empty last block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (24 - 10) << 3, 0x01, 0, 0];
    let refused = DecodeError::Window { coding: Coding::Zstd, bytes: 1 << 24, most: 8 << 20 };
    assert_eq!(decoded(Coding::Zstd, &frame, MOST), Err(refused));
    let long: Vec<u8> = (0..9_000_000_u32).map(|i| (i.wrapping_mul(i) >> 13) as u8).collect();
    let body = encoded(Setting::new(Coding::Zstd, Some(22), None).expect("a level"), &long[..]);
    assert_eq!(decoded(Coding::Zstd, &body, long.len()).as_deref(), Ok(&long[..]));
}

#[test]
fn a_body_with_a_dictionary_is_read_with_that_one_alone() {
    let other = Dictionary::new(patients(16)).expect("a dictionary");
    for coding in [Coding::Dcb, Coding::Dcz] {
        let body = encoded(Setting::default_of(coding), patients(1));
        let read = |dictionary| Decoder::default().decode(coding, dictionary, &body, MOST, &mut Vec::new());
        assert_eq!(read(None), Err(DecodeError::NoDictionary(coding)));
        assert_eq!(read(Some(&other)), Err(DecodeError::OtherDictionary(coding)));
        let nothing = Encoder::default().encode(Setting::default_of(coding), None, b"x", &mut Vec::new());
        assert_eq!(nothing, Err(EncodeError::NoDictionary(coding)));
    }
}

#[test]
fn settings_that_there_are_not_name_the_range() {
    let level = Setting::new(Coding::Gzip, Some(10), None).expect_err("beyond");
    assert_eq!(level.to_string(), "gzip has no level 10: ask for 1 to 9");
    let window = Setting::new(Coding::Zstd, None, Some(27)).expect_err("beyond");
    assert_eq!(window.to_string(), "zstd has no window 27: ask for 10 to 23, a power of two in bytes");
    assert_eq!(Setting::new(Coding::Identity, Some(1), None), Err(SettingError::NoLevels(Coding::Identity)));
    assert_eq!(Setting::new(Coding::Gzip, None, Some(15)), Err(SettingError::NoWindows(Coding::Gzip)));
}

#[test]
fn lines_of_content_encoding_add_up_to_one_known_coding_or_to_something_else() {
    let said = |lines: &[&str]| lines.iter().fold(ContentEncoding::default(), |said, line| said.and(line.as_bytes()));
    assert_eq!([said(&[]), said(&[""]), said(&[" ", ""])], [ContentEncoding::Absent; 3]);
    assert_eq!([said(&["gzip"]), said(&[" X-Gzip ", ""])], [ContentEncoding::One(Coding::Gzip); 2]);
    for lines in [&["gzip, br"][..], &["br", "br"], &["lz4"], &["identity"], &["gzip,"]] {
        assert_eq!(said(lines), ContentEncoding::Other, "{lines:?}");
    }
    assert!(ContentEncoding::Absent.is(Coding::Identity) && !ContentEncoding::Other.is(Coding::Identity));
    assert!(said(&["zstd"]).is(Coding::Zstd) && !said(&["zstd"]).is(Coding::Br));
}

#[test]
fn names_are_those_of_the_registry() {
    for coding in Coding::ALL {
        assert_eq!(Coding::named(coding.name().to_uppercase().as_bytes()), Some(coding));
        assert_eq!(Coding::ALL[coding as usize], coding);
        assert!(!coding.library().is_empty());
    }
    assert_eq!(Coding::named(b"compress"), None);
}

proptest! {
    #[test]
    fn any_body_comes_back(body in prop::collection::vec(any::<u8>(), 0..3000), which in any::<prop::sample::Index>()) {
        let settings: Vec<Setting> = every_setting().collect();
        let setting = settings[which.index(settings.len())];
        prop_assert_eq!(decoded(setting.coding(), &encoded(setting, &body), body.len()), Ok(body));
    }

    #[test]
    fn any_bytes_are_decoded_without_harm(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        which in 0..Coding::ALL.len(),
        most in 0_usize..5000,
    ) {
        if let Ok(body) = decoded(Coding::ALL[which], &bytes, most) {
            prop_assert!(body.len() <= most);
        }
    }

    #[test]
    fn a_flipped_byte_never_gives_more_than_allowed(
        which in 1..Coding::ALL.len(),
        at in any::<prop::sample::Index>(),
        flip in 1_u8..,
    ) {
        let coding = Coding::ALL[which];
        let mut bytes = encoded(Setting::default_of(coding), patients(4));
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(body) = decoded(coding, &bytes, 10_000) {
            prop_assert!(body.len() <= 10_000);
        }
    }
}
