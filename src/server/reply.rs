//! The one answer to a request.

use super::command::Answer;
use super::connection_id::ConnectionId;
use super::encode::{self, encode};
use super::outbox::{Frame, Outbox};
use tokio::sync::oneshot;

use plyhouse_protocol::{ErrorCode, RequestId, Seq, ServerMessage, WireError};

/// The duty to answer one request. Whoever holds it answers; if it is dropped unanswered, because
/// a task failed, the client is told `internal`. So every request is answered by construction.
#[derive(Debug)]
pub(super) struct Reply {
    outbox: Outbox,
    re: Option<RequestId>,
    owed: bool,
    /// Tells whoever waits whether what was asked came about.
    granted: Option<oneshot::Sender<bool>>,
}

impl Reply {
    pub(super) const fn new(outbox: Outbox, re: Option<RequestId>) -> Self {
        Self {
            outbox,
            re,
            owed: true,
            granted: None,
        }
    }

    /// For a message that nobody asked for: it carries no number and nothing is owed.
    pub(super) const fn unasked(outbox: Outbox) -> Self {
        Self {
            outbox,
            re: None,
            owed: false,
            granted: None,
        }
    }

    /// The same duty, and a way to wait for the answer: true once it is given and what was asked came
    /// about.
    pub(super) fn watched(mut self) -> (Self, oneshot::Receiver<bool>) {
        let (granted, answer) = oneshot::channel();
        self.granted = Some(granted);
        (self, answer)
    }

    /// Where the answer goes.
    pub(super) const fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Whose request it is, for the log.
    pub(super) fn connection(&self) -> ConnectionId {
        self.outbox.connection()
    }

    /// Answers with data.
    pub(super) fn tell(self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        self.send(|re| encode(&message(re)));
    }

    /// Answers with data that goes out when the outbox is flushed next.
    pub(super) fn post(mut self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        self.outbox.post(encode(&message(self.re)));
        self.settle(true);
    }

    /// Answers with data that is written already.
    pub(super) fn send(mut self, frame: impl FnOnce(Option<RequestId>) -> Frame) {
        self.outbox.send(frame(self.re));
        self.settle(true);
    }

    /// Answers that it is done; told only to those who numbered their request.
    pub(super) fn ok(mut self, seq: Option<Seq>) {
        if let Some(re) = self.re {
            self.outbox.send(encode::ok(re, seq));
        }
        self.settle(true);
    }

    /// Answers that nothing was done.
    pub(super) fn error(mut self, error: WireError) {
        self.outbox.metrics().error(error.code);
        let connection = self.connection();
        tracing::debug!(%connection, code = %error.code, "refused");
        let re = self.re;
        let error = ServerMessage::Error(Box::new(WireError { re, ..error }));
        self.outbox.send(encode(&error));
        self.settle(false);
    }

    /// Answers what a match has answered.
    pub(super) fn answer(self, answer: Answer) {
        match answer {
            Ok(seq) => self.ok(seq),
            Err(error) => self.error(*error),
        }
    }

    /// Lets go of the duty, since the client is gone.
    pub(super) fn withdraw(mut self) {
        self.settle(false);
    }

    /// Notes that the duty is done.
    fn settle(&mut self, is_granted: bool) {
        self.owed = false;
        if let Some(granted) = self.granted.take() {
            // Whoever waited may be gone.
            let _ = granted.send(is_granted);
        }
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
