//! What frames mean to a client that carry neither fields nor data.

use super::super::control::{MOST_WINDOW, settings_of};
use super::super::frame::{self, FrameHead, flag, kind, setting};
use super::super::{ErrorCode, H2Error};
use super::{Client, Told};

impl<T: Default> Client<T> {
    pub(super) fn check_order(&mut self, head: FrameHead) -> Result<(), H2Error> {
        if !self.has_settings {
            if head.kind != kind::SETTINGS || head.has(flag::ACK) {
                return Err(H2Error::protocol("the first frame is not SETTINGS"));
            }
            self.has_settings = true;
        }
        if self.block.is_open() && head.kind != kind::CONTINUATION {
            return Err(H2Error::protocol("a field block is interrupted by another frame"));
        }
        Ok(())
    }

    pub(super) fn read_control<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Told<'d>>, H2Error> {
        self.check_order(head)?;
        match head.kind {
            kind::HEADERS => self.read_headers(head, payload),
            kind::CONTINUATION => self.read_continuation(head, payload),
            kind::RST_STREAM => self.read_reset(head, payload),
            kind::SETTINGS => self.read_settings(head, payload),
            kind::PING => self.read_ping(head, payload).map(|()| None),
            kind::GOAWAY => self.read_goaway(head, payload),
            kind::WINDOW_UPDATE => self.read_window_update(head, payload),
            kind::PUSH_PROMISE => Err(H2Error::protocol("a push that nobody allowed")),
            kind::PRIORITY => Ok(self.patience.spend("too many PRIORITY frames").map(|()| None)?),
            // RFC 9113, 4.1: types that are unknown are ignored.
            _ => Ok(self.patience.spend("too many frames of unknown types").map(|()| None)?),
        }
    }

    fn read_reset<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Told<'d>>, H2Error> {
        let Ok(code) = payload.try_into().map(u32::from_be_bytes) else {
            return Err(H2Error::frame_size("RST_STREAM is not 4 bytes long"));
        };
        if self.is_idle(head.stream) {
            return Err(H2Error::protocol("RST_STREAM on a stream that nobody has opened"));
        }
        self.patience.spend("too many streams were reset")?;
        let Some(at) = self.streams.find(head.stream) else { return Ok(None) };
        self.streams.close(at);
        Ok(Some(Told::Reset { at, code: ErrorCode(code) }))
    }

    fn read_settings<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Told<'d>>, H2Error> {
        if head.stream != 0 {
            return Err(H2Error::protocol("SETTINGS on a stream"));
        }
        self.patience.spend("too many SETTINGS")?;
        if head.has(flag::ACK) {
            let fault = "an acknowledgement of settings has some";
            return if payload.is_empty() { Ok(None) } else { Err(H2Error::frame_size(fault)) };
        }
        let mut most_streams = None;
        for (name, value) in settings_of(payload)? {
            match name {
                setting::HEADER_TABLE_SIZE => self.speaker.limit_table(value),
                setting::ENABLE_PUSH if value > 0 => {
                    return Err(H2Error::protocol("a server that enables push"));
                }
                setting::MAX_CONCURRENT_STREAMS => most_streams = Some(value),
                setting::INITIAL_WINDOW_SIZE => self.change_windows(value)?,
                setting::MAX_FRAME_SIZE => match value {
                    0x4000..=0x00ff_ffff => self.peer.frame_bytes = value as usize,
                    _ => return Err(H2Error::protocol("MAX_FRAME_SIZE is out of its range")),
                },
                _ => {}
            }
        }
        // The first settings tell of a limit or of there being none; later ones change only what they name.
        let first = !std::mem::replace(&mut self.knows_most, true);
        if let Some(most) = most_streams.or(first.then_some(u32::MAX)) {
            self.peer.most_streams = most;
        }
        frame::write_settings_ack(&mut self.out);
        Ok(Some(Told::Settings))
    }

    /// RFC 9113, 6.9.2: streams that are open get the difference, up or down.
    fn change_windows(&mut self, value: u32) -> Result<(), H2Error> {
        let change = i64::from(value) - i64::from(self.peer.stream_window);
        self.peer.stream_window = value;
        let mut highest = i64::from(value);
        for stream in self.streams.streams_mut() {
            stream.send_window += change;
            highest = highest.max(stream.send_window);
        }
        if highest > MOST_WINDOW {
            return Err(H2Error::flow_control("a window beyond 2^31 - 1"));
        }
        Ok(())
    }

    fn read_ping(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), H2Error> {
        if head.stream != 0 {
            return Err(H2Error::protocol("PING on a stream"));
        }
        let Ok(opaque) = payload.try_into() else { return Err(H2Error::frame_size("PING is not 8 bytes long")) };
        self.patience.spend("too many PINGs")?;
        if !head.has(flag::ACK) {
            frame::write_ping(&mut self.out, true, opaque);
        }
        Ok(())
    }

    fn read_goaway<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Told<'d>>, H2Error> {
        if head.stream != 0 {
            return Err(H2Error::protocol("GOAWAY on a stream"));
        }
        let Some((&[l0, l1, l2, l3, c0, c1, c2, c3], _)) = payload.split_first_chunk() else {
            return Err(H2Error::frame_size("GOAWAY is shorter than 8 bytes"));
        };
        self.patience.spend("too many GOAWAYs")?;
        self.peer.went_away = true;
        self.streams.forsake_beyond(u32::from_be_bytes([l0, l1, l2, l3]) & 0x7fff_ffff);
        Ok(Some(Told::GoAway { code: ErrorCode(u32::from_be_bytes([c0, c1, c2, c3])) }))
    }

    fn read_window_update<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Told<'d>>, H2Error> {
        let Ok(bytes) = payload.try_into().map(u32::from_be_bytes) else {
            return Err(H2Error::frame_size("WINDOW_UPDATE is not 4 bytes long"));
        };
        let (id, bytes) = (head.stream, i64::from(bytes & 0x7fff_ffff));
        if id == 0 {
            self.send_window += bytes;
            return match bytes {
                0 => Err(H2Error::protocol("a window raised by nothing")),
                _ if self.send_window > MOST_WINDOW => Err(H2Error::flow_control("a window beyond 2^31 - 1")),
                _ => Ok(None),
            };
        }
        if self.is_idle(id) {
            return Err(H2Error::protocol("WINDOW_UPDATE on a stream that nobody has opened"));
        }
        let Some(at) = self.streams.find(id) else { return Ok(None) };
        let Some(stream) = self.streams.get_mut(at) else { return Ok(None) };
        stream.send_window += bytes;
        let beyond = stream.send_window > MOST_WINDOW;
        Ok(match bytes {
            0 => Some(self.refuse(at, id, ErrorCode::PROTOCOL_ERROR, "a window raised by nothing")),
            _ if beyond => Some(self.refuse(at, id, ErrorCode::FLOW_CONTROL_ERROR, "a window beyond 2^31 - 1")),
            _ => None,
        })
    }
}
