//! Sends the single answer to a request.

use super::id::ConnectionId;
use super::outbox::{Frame, Outbox};
use crate::match_handle::command::Answer;
use crate::wire::encode;
use crate::wire::encode::encode;
use tokio::sync::oneshot;

use plyhouse_protocol::{ErrorCode, RequestId, Seq, ServerMessage, WireError};

/// Obligation to answer one request. If a task fails and drops the reply without an answer, the
/// client receives the error `internal`. Every request is therefore answered.
#[derive(Debug)]
pub(crate) struct Reply {
    outbox: Outbox,
    re: Option<RequestId>,
    /// Names of the request's fields that the server ignores.
    ignored: Vec<String>,
    is_pending: bool,
    /// Whether the request is a move. Moves count against the rate limit only if they are rejected.
    is_for_move: bool,
    /// Whether the request may have been applied, although the server does not know its outcome.
    may_be_applied: bool,
    /// Channel that passes a copy of the answer to a waiting task, if any.
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

    /// Sets the names of the request's fields that the answer reports as ignored.
    pub(crate) fn with_ignored_fields(mut self, fields: Vec<String>) -> Self {
        self.ignored = fields;
        self
    }

    /// Marks the request as a move, which counts against the rate limit only if it is rejected.
    pub(crate) const fn for_move(mut self) -> Self {
        self.is_for_move = true;
        self
    }

    /// Records that the request may have been applied. After this call, the error `internal`
    /// replaces `overloaded` and `not_seated`, which tell the client that nothing has changed. A
    /// player may have lost the seat after the move was applied.
    pub(crate) const fn mark_possibly_applied(&mut self) {
        self.may_be_applied = true;
    }

    /// Counts the request as a rejected move, if it is a move. A move request that fails or repeats
    /// an earlier one counts as a rejected move.
    pub(crate) fn count_rejected_move(&self) {
        if self.is_for_move {
            self.outbox.count_rejected_move();
        }
    }

    /// Creates a reply for a message that no request asked for. The reply has no request id and may
    /// be dropped without an answer.
    pub(crate) const fn unsolicited(outbox: Outbox) -> Self {
        let mut reply = Self::new(outbox, None);
        reply.is_pending = false;
        reply
    }

    /// Returns the reply with a receiver for a copy of the answer. The receiver's channel closes
    /// without a value if the reply is dropped without an answer.
    pub(crate) fn with_answer_receiver(mut self) -> (Self, oneshot::Receiver<Answer>) {
        let (sender, answer) = oneshot::channel();
        self.answer_sender = Some(sender);
        (self, answer)
    }

    /// Returns the outbox that receives the answer.
    pub(crate) const fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Returns the id of the connection that sent the request.
    pub(crate) fn connection(&self) -> ConnectionId {
        self.outbox.connection()
    }

    /// Answers with the message that a request returns, or with the request's error.
    pub(crate) fn respond(self, result: Result<ServerMessage, WireError>) {
        if let Some((mut message, reply)) = self.require(result) {
            reply.send_frame(|re| {
                message.set_re(re);
                encode(&message)
            });
        }
    }

    /// Answers that the request succeeded, or with the request's error.
    pub(crate) fn confirm(self, result: Result<(), WireError>) {
        if let Some(((), reply)) = self.require(result) {
            reply.ok(None);
        }
    }

    /// Queues a message as the answer. The next flush of the outbox sends the message.
    pub(crate) fn post_message(mut self, message: impl FnOnce(Option<RequestId>) -> ServerMessage) {
        let answer = self.append_ignored(encode(&message(self.re)));
        self.outbox.enqueue(answer);
        self.complete(Ok(None));
    }

    /// Answers with a message that is already encoded.
    pub(crate) fn send_frame(mut self, frame: impl FnOnce(Option<RequestId>) -> Frame) {
        let answer = self.append_ignored(frame(self.re));
        self.outbox.send(answer);
        self.complete(Ok(None));
    }

    /// Answers that the request succeeded. A request without an id gets no message.
    pub(crate) fn ok(mut self, seq: Option<Seq>) {
        if let Some(re) = self.re {
            self.outbox.send(self.append_ignored(encode::ok(re, seq)));
        }
        self.complete(Ok(seq));
    }

    /// Answers with an error.
    pub(crate) fn error(mut self, mut error: WireError) {
        self.count_rejected_move();
        let denies_change = [ErrorCode::Overloaded, ErrorCode::NotSeated];
        if self.may_be_applied && error.code.is_some_and(|code| denies_change.contains(&code)) {
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

    /// Answers with the result of a match command.
    pub(crate) fn answer(self, answer: Answer) {
        match answer {
            Ok(seq) => self.ok(seq),
            Err(error) => self.error(*error),
        }
    }

    /// Drops the reply without answering the request.
    pub(crate) fn discard(mut self) {
        self.is_pending = false;
    }

    /// Adds the names of ignored fields to an encoded answer, if there are any.
    fn append_ignored(&self, answer: Frame) -> Frame {
        if self.ignored.is_empty() {
            return answer;
        }
        encode::add_ignored_fields(&answer, &self.ignored)
    }

    /// Marks the request as answered and passes the outcome to the receiver, if any.
    fn complete(&mut self, answer: Answer) {
        self.is_pending = false;
        if let Some(sender) = self.answer_sender.take() {
            // Sending fails if the receiver was dropped, so the result is ignored.
            let _ = sender.send(answer);
        }
    }

    /// If `result` is `Ok`, returns its value and the reply. Otherwise, answers with the error and
    /// returns `None`.
    pub(crate) fn require<T, E: Into<WireError>>(self, result: Result<T, E>) -> Option<(T, Self)> {
        match result {
            Ok(found) => Some((found, self)),
            Err(error) => {
                self.error(error.into());
                None
            }
        }
    }

    /// Answers with an error that has the given code and message.
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
            let error = WireError::new(ErrorCode::Internal, "internal server error");
            let error = ServerMessage::Error(Box::new(WireError {
                re: self.re,
                ..error
            }));
            self.outbox.send(encode(&error));
        }
    }
}
