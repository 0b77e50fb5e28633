//! The one answer to a request.

use super::id::ConnectionId;
use super::outbox::{Frame, Outbox};
use crate::match_handle::command::Answer;
use crate::wire::encode;
use crate::wire::encode::encode;
use tokio::sync::oneshot;

use plyhouse_protocol::{ErrorCode, RequestId, Seq, ServerMessage, WireError};

/// The duty to answer one request. If it is dropped unanswered, because a task failed, the client is
/// told `internal`: so every request is answered by construction.
#[derive(Debug)]
pub(crate) struct Reply {
    outbox: Outbox,
    re: Option<RequestId>,
    /// The fields of the request that mean nothing in it.
    ignored: Vec<String>,
    owed: bool,
    /// Whether it is for a move, which counts against the rate only if it comes to nothing.
    is_of_move: bool,
    /// Whether it may have been done, of which nobody knows yet.
    may_be_done: bool,
    /// Receives what was answered, if anybody waits for that.
    granted: Option<oneshot::Sender<Answer>>,
}

impl Reply {
    pub(crate) const fn new(outbox: Outbox, re: Option<RequestId>) -> Self {
        Self {
            outbox,
            re,
            ignored: Vec::new(),
            owed: true,
            is_of_move: false,
            may_be_done: false,
            granted: None,
        }
    }

    /// Has the answer tell which fields of the request mean nothing in it.
    pub(crate) fn ignoring(mut self, fields: Vec<String>) -> Self {
        self.ignored = fields;
        self
    }

    /// For a move: it counts against the rate of its connection only if it comes to nothing.
    pub(crate) const fn of_move(mut self) -> Self {
        self.is_of_move = true;
        self
    }

    /// Notes that it was tried, and may have been done: from now on nobody is told that nothing has changed
    /// for want of a store or a server.
    pub(crate) const fn note_tried(&mut self) {
        self.may_be_done = true;
    }

    /// Notes that what was asked for had been done before.
    pub(crate) fn note_fruitless(&self) {
        if self.is_of_move {
            self.outbox.note_fruitless();
        }
    }

    /// For a message that the server sends unasked: it has no request number, and may be dropped.
    pub(crate) const fn unasked(outbox: Outbox) -> Self {
        Self {
            outbox,
            re: None,
            ignored: Vec::new(),
            owed: false,
            is_of_move: false,
            may_be_done: false,
            granted: None,
        }
    }

    /// Adds a way to wait for the answer, which gives nothing if the request is left unanswered.
    pub(crate) fn watched(mut self) -> (Self, oneshot::Receiver<Answer>) {
        let (granted, answer) = oneshot::channel();
        self.granted = Some(granted);
        (self, answer)
    }

    /// Where the answer goes.
    pub(crate) const fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Whose request it is, for the log.
    pub(crate) fn connection(&self) -> ConnectionId {
        self.outbox.connection()
    }

    /// Answers with data.
    pub(crate) fn tell(self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        self.send(|re| encode(&message(re)));
    }

    /// Answers with data that goes out when the outbox is flushed next.
    pub(crate) fn post(mut self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        let answer = self.whole(encode(&message(self.re)));
        self.outbox.post(answer);
        self.settle(Ok(None));
    }

    /// Answers with data that is written already.
    pub(crate) fn send(mut self, frame: impl FnOnce(Option<RequestId>) -> Frame) {
        let answer = self.whole(frame(self.re));
        self.outbox.send(answer);
        self.settle(Ok(None));
    }

    /// Answers that it is done; told only to those who numbered their request.
    pub(crate) fn ok(mut self, seq: Option<Seq>) {
        if let Some(re) = self.re {
            self.outbox.send(self.whole(encode::ok(re, seq)));
        }
        self.settle(Ok(seq));
    }

    /// Answers that nothing was done.
    pub(crate) fn error(mut self, mut error: WireError) {
        self.note_fruitless();
        if self.may_be_done && error.code == Some(ErrorCode::Overloaded) {
            error.code = Some(ErrorCode::Internal);
        }
        let connection = self.connection();
        if let Some(code) = error.code {
            self.outbox.metrics().count_error(code);
            tracing::debug!(%connection, %code, "refused");
        }
        let error = Box::new(WireError {
            re: self.re,
            ..error
        });
        let told = ServerMessage::Error(error.clone());
        self.outbox.send(self.whole(encode(&told)));
        self.settle(Err(error));
    }

    /// Answers what a match has answered.
    pub(crate) fn answer(self, answer: Answer) {
        match answer {
            Ok(seq) => self.ok(seq),
            Err(error) => self.error(*error),
        }
    }

    /// Drops the duty, since the client is gone.
    pub(crate) fn withdraw(mut self) {
        self.owed = false;
    }

    /// An answer with all that belongs to it.
    fn whole(&self, answer: Frame) -> Frame {
        if self.ignored.is_empty() {
            return answer;
        }
        encode::with_ignored(&answer, &self.ignored)
    }

    /// Notes that the duty is done.
    fn settle(&mut self, answer: Answer) {
        self.owed = false;
        if let Some(granted) = self.granted.take() {
            // The receiver may have been dropped.
            let _ = granted.send(answer);
        }
    }

    /// Goes on with what was found, or answers why it was not.
    pub(crate) fn check<T, E: Into<WireError>>(self, found: Result<T, E>) -> Option<(T, Self)> {
        match found {
            Ok(found) => Some((found, self)),
            Err(error) => {
                self.error(error.into());
                None
            }
        }
    }

    /// Answers with an error of this code and text.
    pub(crate) fn refuse(self, code: ErrorCode, message: &str) {
        self.error(WireError::new(code, message));
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if self.owed {
            self.outbox.metrics().count_error(ErrorCode::Internal);
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
