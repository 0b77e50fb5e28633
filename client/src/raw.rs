//! `ply raw`: the protocol by hand.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};

use crate::failure::{Failure, unwritable};
use crate::link::{connect, lost};
use crate::server::Server;
use crate::terminal::{Input, Manner, Terminal};

/// How long answers are waited for once the input has ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long, after the last message, for what nobody can know to be outstanding: answers to
/// requests without a number, and events.
const AFTERWORD: Duration = Duration::from_millis(500);

/// How long one message may take to be sent.
const SENDING: Duration = Duration::from_secs(10);

/// How many requests may wait for their answers; the input waits at the bound.
const OUTSTANDING_MAX: usize = 1024;

/// Sends each line of the input, writes each message of the server, and ends when the input has
/// ended and every numbered request is answered.
pub(crate) async fn run(server: &Server) -> Result<(), Failure> {
    let mut connection = connect(server).await?;
    let mut terminal = Terminal::open(Manner::Script, true).map_err(unwritable)?;
    let mut outstanding = Outstanding::default();
    let mut ended: Option<Instant> = None;
    let mut heard = Instant::now();
    loop {
        let give_up = match ended {
            Some(at) if outstanding.is_empty() => (heard + AFTERWORD).min(at + PATIENCE),
            Some(at) => at + PATIENCE,
            None => Instant::now() + PATIENCE,
        };
        tokio::select! {
            text = connection.receive_text() => {
                let text = text.map_err(|error| lost(&error))?;
                terminal.message(&text).map_err(unwritable)?;
                outstanding.answered(&text);
                heard = Instant::now();
            }
            input = terminal.next(), if ended.is_none() && outstanding.len() < OUTSTANDING_MAX => {
                match input {
                    Input::Line(line) => {
                        outstanding.asked(&line);
                        let sent = timeout(SENDING, connection.send_text(line)).await;
                        let silent = || Failure::NoConnection("the server does not read".to_owned());
                        sent.map_err(|_| silent())?.map_err(|error| lost(&error))?;
                        heard = Instant::now();
                    }
                    Input::Interrupt => return Err(Failure::Stopped),
                    Input::End => ended = Some(Instant::now()),
                }
            }
            () = sleep_until(give_up), if ended.is_some() => break,
        }
        if ended.is_some() && outstanding.is_empty() && !outstanding.unnumbered {
            break;
        }
    }
    let _ = timeout(PATIENCE, connection.close()).await;
    if outstanding.is_empty() {
        return Ok(());
    }
    let count = outstanding.len();
    Err(Failure::Failed(format!(
        "{count} requests were not answered"
    )))
}

/// The requests that have not been answered, by their numbers.
#[derive(Debug, Default)]
struct Outstanding {
    by_id: BTreeMap<u64, usize>,
    /// Whether any request had no number: nobody can tell when it has been answered.
    unnumbered: bool,
}

impl Outstanding {
    fn asked(&mut self, line: &str) {
        match number(line, "id") {
            Some(id) => *self.by_id.entry(id).or_default() += 1,
            None => self.unnumbered = true,
        }
    }

    fn answered(&mut self, text: &str) {
        let Some(re) = number(text, "re") else { return };
        if let Some(count) = self.by_id.get_mut(&re) {
            *count -= 1;
            if *count == 0 {
                self.by_id.remove(&re);
            }
        }
    }

    fn len(&self) -> usize {
        self.by_id.values().sum()
    }

    fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

/// The number in a field of a message, if it is one that the server takes for a number too.
fn number(text: &str, field: &str) -> Option<u64> {
    let message: Value = serde_json::from_str(text).ok()?;
    let number = message.get(field)?.as_u64()?;
    (number <= plyhouse_protocol::INTEGER_MAX).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_numbered_request_has_one_answer() {
        let mut outstanding = Outstanding::default();
        outstanding.asked(r#"{"type":"ping","id":1}"#);
        outstanding.asked(r#"{"type":"ping","id":1}"#);
        assert_eq!(outstanding.len(), 2);
        outstanding.answered(r#"{"type":"presence","match":"…"}"#);
        outstanding.answered(r#"{"type":"pong","re":1}"#);
        outstanding.answered(r#"{"type":"pong","re":2}"#);
        assert!(!outstanding.is_empty());
        outstanding.answered(r#"{"type":"pong","re":1}"#);
        assert!(outstanding.is_empty() && !outstanding.unnumbered);
        outstanding.asked("no JSON");
        assert!(outstanding.is_empty() && outstanding.unnumbered);
    }
}
