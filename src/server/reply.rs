//! The one answer to a request.

use super::encode::{self, encode};
use super::outbox::{Frame, Outbox};
use super::peer::PeerId;
use plyhouse_protocol::{ErrorCode, RequestId, Seq, ServerMessage, WireError};

/// The duty to answer one request. Whoever holds it answers; if it is dropped unanswered, because
/// a task failed, the client is told `internal`. So every request is answered by construction.
#[derive(Debug)]
pub(super) struct Reply {
    outbox: Outbox,
    re: Option<RequestId>,
    owed: bool,
}

impl Reply {
    pub(super) const fn new(outbox: Outbox, re: Option<RequestId>) -> Self {
        Self {
            outbox,
            re,
            owed: true,
        }
    }

    /// For a message that nobody asked for: it carries no number and nothing is owed.
    pub(super) const fn unasked(outbox: Outbox) -> Self {
        Self {
            outbox,
            re: None,
            owed: false,
        }
    }

    /// Whose request it is, for the log.
    pub(super) fn connection(&self) -> PeerId {
        self.outbox.connection()
    }

    /// Answers with data.
    pub(super) fn tell(self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        self.send(|re| encode(&message(re)));
    }

    /// Answers with data that goes out when the outbox is flushed next.
    pub(super) fn post(mut self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        self.owed = false;
        self.outbox.post(encode(&message(self.re)));
    }

    /// Answers with data that is written already.
    pub(super) fn send(mut self, frame: impl FnOnce(Option<RequestId>) -> Frame) {
        self.owed = false;
        self.outbox.send(frame(self.re));
    }

    /// Answers that it is done; told only to those who numbered their request.
    pub(super) fn ok(mut self, seq: Option<Seq>) {
        match self.re {
            Some(re) => self.send(|_| encode::ok(re, seq)),
            None => self.owed = false,
        }
    }

    /// Answers that nothing was done.
    pub(super) fn error(self, error: WireError) {
        self.outbox.metrics().error(error.code);
        let connection = self.connection();
        tracing::debug!(%connection, code = %error.code, "refused");
        self.tell(|re| ServerMessage::Error(Box::new(WireError { re, ..error })));
    }

    /// Goes on with what was found, or answers why it was not.
    pub(super) fn check<T>(self, found: Result<T, WireError>) -> Option<(T, Self)> {
        match found {
            Ok(found) => Some((found, self)),
            Err(error) => {
                self.error(error);
                None
            }
        }
    }

    /// Answers with an error that says no more than its code and a sentence.
    pub(super) fn refuse(self, code: ErrorCode, message: &str) {
        self.error(WireError::new(code, message));
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if self.owed {
            self.outbox.metrics().error(ErrorCode::Internal);
            let connection = self.connection();
            tracing::debug!(%connection, "a request was left unanswered");
            let error = WireError::new(ErrorCode::Internal, "the server failed; it was not you");
            let error = ServerMessage::Error(Box::new(WireError {
                re: self.re,
                ..error
            }));
            self.outbox.send(encode(&error));
        }
    }
}
