//! What frames mean that carry neither fields nor data.

use super::connection::Event;
use super::core::Core;
use super::frame::{self, FrameHead, flag, setting};
use super::streams::Parting;
use super::{ErrorCode, H2Error};

pub(super) const MOST_WINDOW: i64 = 0x7fff_ffff;

/// Names and values of SETTINGS.
pub(super) fn settings_of(payload: &[u8]) -> Result<impl Iterator<Item = (u16, u32)>, H2Error> {
    let (settings, rest) = payload.as_chunks::<6>();
    if !rest.is_empty() {
        return Err(H2Error::frame_size("SETTINGS are not 6 bytes each"));
    }
    let read = |&[high, low, value @ ..]: &[u8; 6]| (u16::from_be_bytes([high, low]), u32::from_be_bytes(value));
    Ok(settings.iter().map(read))
}

impl Core {
    pub fn read_priority<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'d>>, H2Error> {
        if head.stream == 0 {
            return Err(H2Error::protocol("PRIORITY without a stream"));
        }
        self.patience.spend("too many PRIORITY frames")?;
        match *payload {
            [first, second, third, fourth, _] => {
                let parent = u32::from_be_bytes([first, second, third, fourth]) & 0x7fff_ffff;
                if parent != head.stream {
                    return Ok(None);
                }
                self.refuse_unless_idle(head.stream, H2Error::protocol("a stream that depends on itself"))
            }
            _ => self.refuse_unless_idle(head.stream, H2Error::frame_size("PRIORITY is not 5 bytes long")),
        }
    }

    /// A stream that is idle can't be reset, so that its error is the connection's.
    fn refuse_unless_idle<'d>(&mut self, id: u32, error: H2Error) -> Result<Option<Event<'d>>, H2Error> {
        if self.is_idle(id) { Err(error) } else { self.refuse(id, error.code) }
    }

    pub fn read_reset<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'d>>, H2Error> {
        let Ok(code) = payload.try_into().map(u32::from_be_bytes) else {
            return Err(H2Error::frame_size("RST_STREAM is not 4 bytes long"));
        };
        if self.is_idle(head.stream) {
            return Err(H2Error::protocol("RST_STREAM on a stream that nobody has opened"));
        }
        self.patience.spend("too many streams were reset")?;
        let known = self.streams.close(head.stream, Parting::ByPeer);
        Ok(known.then_some(Event::Reset { stream: head.stream, code: ErrorCode(code) }))
    }

    pub fn read_settings(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), H2Error> {
        if head.stream != 0 {
            return Err(H2Error::protocol("SETTINGS on a stream"));
        }
        self.patience.spend("too many SETTINGS")?;
        if head.has(flag::ACK) {
            if !payload.is_empty() {
                return Err(H2Error::frame_size("an acknowledgement of settings has some"));
            }
            self.take_ack();
            return Ok(());
        }
        self.apply_settings(payload)?;
        frame::write_settings_ack(&mut self.out);
        Ok(())
    }

    pub fn apply_settings(&mut self, payload: &[u8]) -> Result<(), H2Error> {
        for (name, value) in settings_of(payload)? {
            match name {
                setting::HEADER_TABLE_SIZE => self.encoder.limit_table(value),
                setting::ENABLE_PUSH if value > 1 => {
                    return Err(H2Error::protocol("ENABLE_PUSH is neither 0 nor 1"));
                }
                setting::MAX_CONCURRENT_STREAMS => self.peer.most_streams = value,
                setting::INITIAL_WINDOW_SIZE => self.change_windows(value)?,
                setting::MAX_FRAME_SIZE => match value {
                    0x4000..=0x00ff_ffff => self.peer.frame_bytes = value as usize,
                    _ => return Err(H2Error::protocol("MAX_FRAME_SIZE is out of its range")),
                },
                _ => {}
            }
        }
        Ok(())
    }

    /// RFC 9113, 6.9.2: streams that are open get the difference, up or down.
    fn change_windows(&mut self, value: u32) -> Result<(), H2Error> {
        let change = i64::from(value) - i64::from(self.peer.stream_window);
        self.peer.stream_window = value;
        let mut highest = i64::from(value);
        for stream in self.streams.all_mut() {
            stream.send_window += change;
            highest = highest.max(stream.send_window);
        }
        if highest > MOST_WINDOW {
            return Err(H2Error::flow_control("a window beyond 2^31 - 1"));
        }
        Ok(())
    }

    pub fn read_ping(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), H2Error> {
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

    pub fn read_goaway<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'d>>, H2Error> {
        if head.stream != 0 {
            return Err(H2Error::protocol("GOAWAY on a stream"));
        }
        let Some((&[l0, l1, l2, l3, c0, c1, c2, c3], _)) = payload.split_first_chunk() else {
            return Err(H2Error::frame_size("GOAWAY is shorter than 8 bytes"));
        };
        self.patience.spend("too many GOAWAYs")?;
        self.peer.went_away = true;
        let last = u32::from_be_bytes([l0, l1, l2, l3]) & 0x7fff_ffff;
        Ok(Some(Event::GoAway { last, code: ErrorCode(u32::from_be_bytes([c0, c1, c2, c3])) }))
    }

    pub fn read_window_update<'d>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'d>>, H2Error> {
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
        let Some(stream) = self.streams.get_mut(id) else { return Ok(None) };
        stream.send_window += bytes;
        match bytes {
            0 => self.refuse(id, ErrorCode::PROTOCOL_ERROR),
            _ if stream.send_window > MOST_WINDOW => self.refuse(id, ErrorCode::FLOW_CONTROL_ERROR),
            _ => Ok(None),
        }
    }
}
