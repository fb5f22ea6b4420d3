//! The least server: finds the ends of heads and answers each with the same bytes.

use memchr::memmem;
use photofinish_net::{Closed, Conn, Handler, Net};

use crate::handicap::Handicap;
use crate::response::HELLO;

const HEAD_END: &[u8] = b"\r\n\r\n";

/// How much of `HEAD_END` the bytes so far end in, for each slot.
#[derive(Debug, Default)]
pub struct Limit {
    matched: Vec<u8>,
    handicap: Handicap,
}

impl Limit {
    /// A server that burns `handicap` for each request.
    #[must_use]
    pub const fn new(handicap: Handicap) -> Self {
        Self { matched: Vec::new(), handicap }
    }
}

/// Counts the ends of heads in `data`; `matched` carries a beginning of one from read to read.
#[inline]
fn count_heads(matched: &mut u8, data: &[u8]) -> usize {
    if *matched == 0 && data.len() < 512 && data.ends_with(HEAD_END) {
        // One request a read, the usual case, costs one search that finds it at the very end.
        return memmem::find_iter(data, HEAD_END).count();
    }
    let mut heads = 0;
    for &byte in data {
        *matched = match (*matched, byte) {
            (0 | 2, b'\r') | (1 | 3, b'\n') => *matched + 1,
            (_, b'\r') => 1,
            _ => 0,
        };
        if *matched == 4 {
            heads += 1;
            *matched = 0;
        }
    }
    heads
}

impl Handler for Limit {
    fn accepted<N: Net>(&mut self, _net: &mut N, conn: Conn, _listener: usize) {
        let slot = conn.slot as usize;
        if self.matched.len() <= slot {
            self.matched.resize(slot + 1, 0);
        }
        self.matched[slot] = 0;
    }

    fn connected<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}

    #[inline]
    fn received<N: Net>(&mut self, net: &mut N, conn: Conn, data: &[u8]) {
        for _ in 0..count_heads(&mut self.matched[conn.slot as usize], data) {
            self.handicap.pay();
            net.send_static(conn, HELLO);
        }
    }

    fn flushed<N: Net>(&mut self, _net: &mut N, _conn: Conn) {}
    fn closed<N: Net>(&mut self, _net: &mut N, _conn: Conn, _why: Closed) {}
    fn timer<N: Net>(&mut self, _net: &mut N) {}
    fn turn_ended<N: Net>(&mut self, _net: &mut N) {}
}

#[cfg(test)]
mod tests {
    use super::count_heads;

    #[test]
    fn heads_are_counted_in_any_cut() {
        let stream = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: \r\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let mut matched = 0;
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                let heads: usize = pieces.iter().map(|piece| count_heads(&mut matched, piece)).sum();
                assert_eq!(heads, 3, "cut at {first} and {second}");
            }
        }
    }
}
