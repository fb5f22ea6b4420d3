//! What is accepted as path, field and body (one line each, the body being the rest) becomes exactly one request, of the
//! length that it declares.
#![no_main]

use libfuzzer_sys::fuzz_target;
use photofinish_http::request::{Flow, RequestParser};
use photofinish_load::mix::{Body, Entry, Mix, Order, Wanted};

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let mut part = || lines.next().unwrap_or_default();
    let path = format!("/{}", part());
    let fields = [("X-Value".to_owned(), part().to_owned())];
    let body = Body::Template(part());
    let wanted = Wanted {
        method: "PATCH",
        authority: "a",
        path: &path,
        fields: &fields,
        body,
        weight: 1.0,
        expect_status: None,
    };
    let Ok(entry) = Entry::new(&wanted, None) else { return };
    let mut mix = Mix::new(vec![entry], Order::Weighted).expect("there is one entry");
    for _ in 0..2 {
        let request = mix.next();
        let bytes = [request.rendered, request.fixed].concat();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head ends") + 4;
        assert_eq!(bytes[..end].iter().filter(|&&byte| byte == b'\n').count(), 5);
        assert!(bytes[..end].ends_with(format!("\r\nContent-Length: {}\r\n\r\n", bytes.len() - end).as_bytes()));
        let mut found = 0;
        let fed = RequestParser::default().feed(&bytes, |_| {
            found += 1;
            Flow::Continue
        });
        // Our own server reads heads up to a limit, which placeholders may exceed.
        assert!(end > photofinish_http::request::MOST_HEAD_BYTES || (fed.is_ok() && found == 1));
    }
});
