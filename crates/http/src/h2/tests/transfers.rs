//! Both ends together: bodies of any size arrive whole, through any windows and any cut of the bytes.

use proptest::prelude::*;

use super::super::{Connection, ErrorCode, Event, Limits};

/// A body on its way out: byte *i* of stream *s* is `i * 7 + s`.
struct Outgoing {
    stream: u32,
    sent: usize,
    bytes: usize,
}

fn byte(stream: u32, at: usize) -> u8 {
    (at * 7 + stream as usize) as u8
}

/// One end with the bodies that it sends and has received.
struct End {
    connection: Connection,
    outgoing: Vec<Outgoing>,
    received: Vec<(u32, usize)>,
    ended: Vec<u32>,
    wire: Vec<u8>,
}

impl End {
    fn new(connection: Connection) -> Self {
        Self { connection, outgoing: Vec::new(), received: Vec::new(), ended: Vec::new(), wire: Vec::new() }
    }

    /// Sends what the windows allow, a frame a stream in turn.
    fn pump(&mut self) {
        let mut progress = true;
        while progress {
            progress = false;
            for body in &mut self.outgoing {
                let most = self.connection.sendable(body.stream).min(self.connection.most_frame_bytes());
                let bytes = most.min(body.bytes - body.sent);
                let end = body.sent + bytes == body.bytes;
                if bytes == 0 && !end || !self.connection.may_send(body.stream) {
                    continue;
                }
                self.connection.data_head(body.stream, bytes, end);
                let (stream, from) = (body.stream, body.sent);
                self.connection.output().extend((from..from + bytes).map(|at| byte(stream, at)));
                body.sent += bytes;
                progress = true;
            }
        }
        let output = std::mem::take(self.connection.output());
        self.wire.extend(output);
    }

    fn receive(&mut self, mut data: &[u8], answers: &[usize]) {
        while let Some(event) = self.connection.advance(&mut data).expect("a peer without fault") {
            match event {
                Event::Head { stream, end } => {
                    self.received.push((stream, 0));
                    if end {
                        self.ended.push(stream);
                    }
                    if let Some(&bytes) = answers.get(stream as usize / 2) {
                        assert!(self.connection.respond(stream, 200, [], false));
                        self.outgoing.push(Outgoing { stream, sent: 0, bytes });
                    }
                }
                Event::Data { stream, bytes } => {
                    let received = self.received.iter_mut().find(|received| received.0 == stream).expect("it began");
                    for (at, &came) in bytes.iter().enumerate() {
                        assert_eq!(came, byte(stream, received.1 + at));
                    }
                    received.1 += bytes.len();
                }
                Event::End { stream } => self.ended.push(stream),
                other => panic!("{other:?}"),
            }
        }
    }
}

fn carry(from: &mut End, to: &mut End, most: usize, answers: &[usize]) {
    let cut = most.min(from.wire.len());
    to.receive(&from.wire[..cut], answers);
    from.wire.drain(..cut);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bodies_arrive_whole_both_ways(
        sizes in prop::collection::vec((0_usize..200_000, 0_usize..200_000), 1..8),
        windows in (1_u32..100_000, 1_u32..100_000),
        cuts in prop::collection::vec(1_usize..40_000, 1..5),
    ) {
        let limits = |stream_window| Limits { stream_window, connection_window: 70_000, ..Limits::default() };
        let mut client = End::new(Connection::client(limits(windows.0)));
        let mut server = End::new(Connection::server(limits(windows.1)));
        let answers: Vec<usize> = sizes.iter().map(|size| size.1).collect();
        for &(upload, _) in &sizes {
            let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/")];
            let fields = fields.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
            let stream = client.connection.request(fields, false, false).expect("a stream");
            client.outgoing.push(Outgoing { stream, sent: 0, bytes: upload });
        }
        for &cut in cuts.iter().cycle() {
            client.pump();
            server.pump();
            if client.wire.is_empty() && server.wire.is_empty() {
                break;
            }
            carry(&mut client, &mut server, cut, &answers);
            carry(&mut server, &mut client, cut, &[]);
        }
        for (end, of) in [(&server, 0), (&client, 1)] {
            prop_assert_eq!(end.ended.len(), sizes.len());
            prop_assert_eq!(end.connection.open_streams(), 0);
            for &(stream, bytes) in &end.received {
                let (upload, download) = sizes[stream as usize / 2];
                prop_assert_eq!(bytes, [upload, download][of]);
            }
        }
    }
}

#[test]
fn a_client_opens_no_stream_once_the_server_is_leaving() {
    let (mut client, mut server) = (Connection::client(Limits::default()), Connection::server(Limits::default()));
    server.go_away(ErrorCode::NO_ERROR);
    let output = std::mem::take(server.output());
    let mut data = &output[..];
    let event = client.advance(&mut data).expect("well-formed");
    assert_eq!(event, Some(Event::GoAway { last: 0, code: ErrorCode::NO_ERROR }));
    assert_eq!(client.request([], true, false), None);
}
