//! Whatever bytes are decoded, no more comes out than is allowed, and what was encoded comes back; any `Accept-Encoding` gets
//! something that it accepts. The first byte chooses the coding, the second how much is allowed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photofinish_http::coding::{
    Choice, Coding, Decoder, Dictionary, Encoder, Setting, available_dictionary, negotiate,
};

fuzz_target!(|bytes: &[u8]| {
    let &[which, size, ref rest @ ..] = bytes else { return };
    let coding = Coding::ALL[usize::from(which) % Coding::ALL.len()];
    let dictionary = Dictionary::new(&b"a dictionary that both ends have"[..]).expect("it is long enough");
    let (most, mut out) = (usize::from(size) << 8, Vec::new());
    if Decoder::default().decode(coding, Some(&dictionary), rest, most, &mut out).is_ok() {
        assert!(out.len() <= most);
    } else {
        assert!(out.is_empty());
    }
    let (mut there, mut back) = (Vec::new(), Vec::new());
    let setting = Setting::default_of(coding);
    Encoder::default().encode(setting, Some(&dictionary), rest, &mut there).expect("memory");
    Decoder::default().decode(coding, Some(&dictionary), &there, rest.len(), &mut back).expect("its own output");
    assert_eq!(back, rest);
    let available = [Coding::Zstd, Coding::Br, Coding::Gzip];
    if let Choice::Send(chosen) = negotiate(Some(rest), &available) {
        assert!(chosen == Coding::Identity || available.contains(&chosen));
    }
    if let Some(digest) = available_dictionary(rest) {
        assert_eq!(digest.len(), 32);
    }
});
