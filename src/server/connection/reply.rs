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
    is_pending: bool,
    /// Whether it is for a move, which counts against the rate only if it comes to nothing.
    is_for_move: bool,
    /// Whether it may have been done, of which nobody knows yet.
    may_be_applied: bool,
    /// Receives what was answered, if anybody waits for that.
    answer_sender: Option<oneshot::Sender<Answer>>,
}

impl Reply {
    pub(crate) const fn new(outbox: Outbox, re: Option<RequestId>) -> Self {
        Self {
            outbox,
            re,
            ignored: Vec::new(),
            is_pending: true,
            is_for_move: false,
            may_be_applied: false,
            answer_sender: None,
        }
    }

    /// Has the answer tell which fields of the request mean nothing in it.
    pub(crate) fn with_ignored_fields(mut self, fields: Vec<String>) -> Self {
        self.ignored = fields;
        self
    }

    /// For a move: it counts against the rate of its connection only if it comes to nothing.
    pub(crate) const fn for_move(mut self) -> Self {
        self.is_for_move = true;
        self
    }

    /// Notes that it was tried, and may have been done: from now on nobody is told that nothing has changed
    /// for want of a store or a server.
    pub(crate) const fn mark_possibly_applied(&mut self) {
        self.may_be_applied = true;
    }

    /// Notes that what was asked for had been done before.
    pub(crate) fn count_rejected_move(&self) {
        if self.is_for_move {
            self.outbox.count_rejected_move();
        }
    }

    /// For a message that the server sends unasked: it has no request number, and may be dropped.
    pub(crate) const fn unsolicited(outbox: Outbox) -> Self {
        Self {
            outbox,
            re: None,
            ignored: Vec::new(),
            is_pending: false,
            is_for_move: false,
            may_be_applied: false,
            answer_sender: None,
        }
    }

    /// Adds a way to wait for the answer, which gives nothing if the request is left unanswered.
    pub(crate) fn with_answer_receiver(mut self) -> (Self, oneshot::Receiver<Answer>) {
        let (sender, answer) = oneshot::channel();
        self.answer_sender = Some(sender);
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
    pub(crate) fn send_message(self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        self.send_frame(|re| encode(&message(re)));
    }

    /// Answers with data that goes out when the outbox is flushed next.
    pub(crate) fn post_message(mut self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        let answer = self.append_ignored(encode(&message(self.re)));
        self.outbox.enqueue(answer);
        self.complete(Ok(None));
    }

    /// Answers with data that is written already.
    pub(crate) fn send_frame(mut self, frame: impl FnOnce(Option<RequestId>) -> Frame) {
        let answer = self.append_ignored(frame(self.re));
        self.outbox.send(answer);
        self.complete(Ok(None));
    }

    /// Answers that it is done; told only to those who numbered their request.
    pub(crate) fn ok(mut self, seq: Option<Seq>) {
        if let Some(re) = self.re {
            self.outbox.send(self.append_ignored(encode::ok(re, seq)));
        }
        self.complete(Ok(seq));
    }

    /// Answers that nothing was done.
    pub(crate) fn error(mut self, mut error: WireError) {
        self.count_rejected_move();
        if self.may_be_applied && error.code == Some(ErrorCode::Overloaded) {
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
        let message = ServerMessage::Error(error.clone());
        self.outbox.send(self.append_ignored(encode(&message)));
        self.complete(Err(error));
    }

    /// Answers what a match has answered.
    pub(crate) fn answer(self, answer: Answer) {
        match answer {
            Ok(seq) => self.ok(seq),
            Err(error) => self.error(*error),
        }
    }

    /// Drops the duty, since the client is gone.
    pub(crate) fn discard(mut self) {
        self.is_pending = false;
    }

    /// An answer with all that belongs to it.
    fn append_ignored(&self, answer: Frame) -> Frame {
        if self.ignored.is_empty() {
            return answer;
        }
        encode::add_ignored_fields(&answer, &self.ignored)
    }

    /// Notes that the duty is done.
    fn complete(&mut self, answer: Answer) {
        self.is_pending = false;
        if let Some(sender) = self.answer_sender.take() {
            // The receiver may have been dropped.
            let _ = sender.send(answer);
        }
    }

    /// Goes on with what was found, or answers why it was not.
    pub(crate) fn require<T, E: Into<WireError>>(self, result: Result<T, E>) -> Option<(T, Self)> {
        match result {
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
        if self.is_pending {
            self.outbox.metrics().count_error(ErrorCode::Internal);
            let connection = self.connection();
            tracing::debug!(%connection, "request dropped without an answer");
            let error = WireError::new(ErrorCode::Internal, "the server failed; it was not you");
            let error = ServerMessage::Error(Box::new(WireError {
                re: self.re,
                ..error
            }));
            self.outbox.send(encode(&error));
        }
    }
}
