//! One request on its stream: how far it has been read, and what of its answer is still to leave.

use photofinish_http::h3::Message;
use photofinish_net::quic::Stream;

use super::leaving::Leaving;
use crate::upload::Upload;

/// What becomes of a request's body.
#[derive(Debug)]
pub(super) enum Reading {
    /// The head has not come.
    Head,
    /// It is looked into.
    Upload(Box<Upload>),
    /// It was not asked for, and is passed over.
    Unasked,
    /// Nothing more is wanted, and no answer is given, ever.
    Stalled,
    /// It has ended, or its sender was asked to stop.
    Over,
}

/// One request.
#[derive(Debug)]
pub(super) struct Request {
    pub stream: Stream,
    pub message: Message,
    pub reading: Reading,
    /// The rest of the answer.
    pub leaving: Option<Leaving>,
    /// The answer has begun to leave.
    pub answered: bool,
}

impl Request {
    pub fn new(stream: Stream) -> Self {
        Self { stream, message: Message::request(), reading: Reading::Head, leaving: None, answered: false }
    }

    /// The answer has left whole, as far as we are concerned.
    pub const fn is_answered(&self) -> bool {
        self.answered && self.leaving.is_none()
    }

    /// Nothing more comes or goes.
    pub const fn is_over(&self) -> bool {
        self.is_answered() && matches!(self.reading, Reading::Over)
    }
}
