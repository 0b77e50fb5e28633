//! `ply raw`: sends each line of the input as a protocol message, and prints the messages of the
//! server.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};

use crate::exit::Failure;
use crate::line_terminal::{Input, InputMode, Terminal};
use crate::reconnecting::{connect, connection_failure};
use crate::server_address::ServerAddress;

/// Maximum time to wait for responses after the end of the input.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// If any request had no id, the command waits this long for further messages after the end of the
/// input. The command then ends, unless a request with an id is still pending. Responses to
/// requests without an id cannot be counted.
const QUIET_PERIOD: Duration = Duration::from_millis(500);

/// Timeout for sending one message.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of requests without a response. At this limit, the command stops reading input.
const PENDING_REQUESTS_MAX: usize = 1024;

/// Sends each line of the input and prints each message of the server. After the end of the input,
/// the command waits for outstanding responses until a timeout.
pub(crate) async fn run(server: &ServerAddress) -> Result<(), Failure> {
    let mut connection = connect(server).await?;
    let mut terminal = Terminal::open(InputMode::Lines, true)?;
    let mut pending = PendingRequests::default();
    let mut input_ended_at: Option<Instant> = None;
    let mut last_message_at = Instant::now();
    loop {
        let deadline = match input_ended_at {
            Some(at) if pending.is_empty() => {
                (last_message_at + QUIET_PERIOD).min(at + RESPONSE_TIMEOUT)
            }
            Some(at) => at + RESPONSE_TIMEOUT,
            None => Instant::now() + RESPONSE_TIMEOUT,
        };
        tokio::select! {
            text = connection.receive_text() => {
                let text = text.map_err(|error| connection_failure(&error))?;
                terminal.print_server_message(&text)?;
                pending.record_response(&text);
                last_message_at = Instant::now();
            }
            input = terminal.next_input(), if input_ended_at.is_none() && pending.len() < PENDING_REQUESTS_MAX => {
                match input {
                    Input::Line(line) => {
                        pending.record_request(&line);
                        let sent = timeout(SEND_TIMEOUT, connection.send_text(line)).await;
                        let why = "timed out sending to the server";
                        let send_timed_out = || Failure::NoConnection(why.to_owned());
                        sent.map_err(|_| send_timed_out())?.map_err(|error| connection_failure(&error))?;
                        last_message_at = Instant::now();
                    }
                    Input::Interrupt => return Err(Failure::Stopped),
                    Input::Eof => input_ended_at = Some(Instant::now()),
                }
            }
            () = sleep_until(deadline), if input_ended_at.is_some() => break,
        }
        if input_ended_at.is_some() && pending.is_empty() && !pending.has_unnumbered {
            break;
        }
    }
    let _ = timeout(RESPONSE_TIMEOUT, connection.close()).await;
    if pending.is_empty() {
        return Ok(());
    }
    let count = pending.len();
    let s = if count == 1 { "" } else { "s" };
    Err(Failure::Failed(format!(
        "no response to {count} request{s}"
    )))
}

/// Requests without a response, counted by id.
#[derive(Debug, Default)]
struct PendingRequests {
    count_by_id: BTreeMap<u64, usize>,
    /// Whether any request had no id. The response to a request without an id cannot be recognized.
    has_unnumbered: bool,
}

impl PendingRequests {
    fn record_request(&mut self, line: &str) {
        match integer_field(line, "id") {
            Some(id) => *self.count_by_id.entry(id).or_default() += 1,
            None => self.has_unnumbered = true,
        }
    }

    fn record_response(&mut self, text: &str) {
        let Some(re) = integer_field(text, "re") else {
            return;
        };
        if let Some(count) = self.count_by_id.get_mut(&re) {
            *count -= 1;
            if *count == 0 {
                self.count_by_id.remove(&re);
            }
        }
    }

    fn len(&self) -> usize {
        self.count_by_id.values().sum()
    }

    fn is_empty(&self) -> bool {
        self.count_by_id.is_empty()
    }
}

/// Returns an integer field of a JSON message. Returns `None` if the value is outside the range
/// that the server accepts.
fn integer_field(text: &str, field: &str) -> Option<u64> {
    let message: Value = serde_json::from_str(text).ok()?;
    let number = message.get(field)?.as_u64()?;
    (number <= plyhouse_protocol::INTEGER_MAX).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_settles_one_request_with_its_id() {
        let mut pending = PendingRequests::default();
        pending.record_request(r#"{"type":"ping","id":1}"#);
        pending.record_request(r#"{"type":"ping","id":1}"#);
        assert_eq!(pending.len(), 2);
        pending.record_response(r#"{"type":"presence","match":"…"}"#);
        pending.record_response(r#"{"type":"pong","re":1}"#);
        pending.record_response(r#"{"type":"pong","re":2}"#);
        assert!(!pending.is_empty());
        pending.record_response(r#"{"type":"pong","re":1}"#);
        assert!(pending.is_empty() && !pending.has_unnumbered);
        pending.record_request("no JSON");
        assert!(pending.is_empty() && pending.has_unnumbered);
    }
}
