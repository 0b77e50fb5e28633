//! Handles error replies: sends the request again, prints the error, or ends the run.

use std::time::Duration;

use plyhouse_protocol::{ClientMessage, ErrorCode, WireError};

use super::{Effect, Goal, HELLO_ID, PlaySession};
use crate::exit::Failure;
use crate::sanitize::sanitize;

/// Maximum number of retries of a request.
pub(super) const RETRIES_MAX: u32 = 6;

/// Delay before the first retry, if the server does not specify a delay. The delay doubles with
/// each retry.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Maximum delay before a retry, even if the server specifies a longer one.
pub(super) const RETRY_DELAY_MAX: Duration = Duration::from_mins(1);

impl PlaySession {
    /// Handles an error reply. An error that does not belong to the pending request is only
    /// printed.
    pub(super) fn on_error(&mut self, error: &WireError) {
        if error.re == Some(HELLO_ID) {
            return self.on_hello_error(error);
        }
        let is_response = error.re.is_some() && error.re == self.pending_request_id();
        let Some(mut pending) = self.pending_request.take_if(|_| is_response) else {
            return self.print_error(&sanitize(&error.message));
        };
        // The client does not retry requests such as offers. The user decides whether to repeat
        // them.
        if is_player_interaction(&pending.request.message) {
            return self.print_error(&sanitize(&error.message));
        }
        if let Some(delay) = retry_delay(error, pending.tries) {
            pending.tries += 1;
            self.effects
                .push(Effect::SendAfter(delay, pending.request.clone()));
            self.pending_request = Some(pending);
            return;
        }
        match (pending.request.message, error.code) {
            (ClientMessage::Move { m, .. }, _) => self.on_match_request_error(error, Some(&m)),
            (ClientMessage::Resign { .. }, _) => self.on_match_request_error(error, None),
            (ClientMessage::Leave { .. }, Some(ErrorCode::MatchRunning)) => self.print_error(
                "No bot can take your seat now; `quit` leaves and keeps your seat for a while.",
            ),
            (ClientMessage::Leave { .. }, _) => self.end(Err(Failure::Stopped)),
            // The server rejects a `join` request if the player already has a seat or the match has
            // ended. In both cases the client requests the snapshot, which contains the seat or the
            // outcome.
            (
                ClientMessage::Join { target, .. },
                Some(ErrorCode::AlreadySeated | ErrorCode::MatchEnded),
            ) => self.send_request(ClientMessage::Watch { target }),
            _ => self.end_with_error(error),
        }
    }

    fn on_hello_error(&mut self, error: &WireError) {
        let Some(delay) = retry_delay(error, self.hello_tries) else {
            return self.end_with_error(error);
        };
        self.hello_tries += 1;
        let hello = self.hello_request();
        self.effects.push(Effect::SendAfter(delay, hello));
    }

    /// Handles the rejection of a move or a resignation. The run ends only if the match or the seat
    /// no longer exists.
    fn on_match_request_error(&mut self, error: &WireError, m: Option<&str>) {
        use ErrorCode as Code;
        let what = sanitize(&error.message);
        if matches!(error.code, Some(Code::UnknownMatch | Code::NotSeated)) {
            self.end(Err(Failure::Refused(what)));
        } else if error.code == Some(Code::UnreadableMove)
            && let Some(m) = m
        {
            let help = match self.options.interactive {
                true => "; type `help` for help",
                false => "",
            };
            self.print_error(&format!("{}: {what}{help}", sanitize(m)));
        } else {
            self.print_error(&what);
        }
        // The local state of the match is out of date, so the missing events are requested.
        if matches!(
            error.code,
            Some(Code::StalePly | Code::NotYourTurn | Code::MatchNotStarted)
        ) && let Some(snapshot) = self.snapshot()
        {
            let (target, since) = (snapshot.match_id.into(), snapshot.seq);
            self.send_untracked(ClientMessage::Resync { target, since });
        }
    }

    fn end_with_error(&mut self, error: &WireError) {
        if let Some(result) = self.take_final_result() {
            return self.end(result);
        }
        if error.code == Some(ErrorCode::UnknownMatch) && self.match_state().is_some() {
            let message = "the match no longer exists on the server".to_owned();
            return self.end(Err(Failure::Failed(message)));
        }
        let mut what = sanitize(&error.message);
        if matches!(self.goal, Goal::Join(_)) && error.code == Some(ErrorCode::SeatTaken) {
            // The server's message says that one particular seat is taken. `ply join` accepts any
            // free seat, so the client prints a message about all seats instead.
            what = "no seat is open in this match".to_owned();
        }
        if let Goal::Join(target) | Goal::Watch(target) = &self.goal
            && error.code == Some(ErrorCode::UnknownMatch)
        {
            what = format!("there is no match {} on this server", sanitize(target));
        }
        if let Some(hint) = self.error_advice(error) {
            what = format!("{what}\n{hint}");
        }
        self.end(Err(Failure::Refused(what)));
    }

    /// Returns advice on an error, unless the server's message already contains it.
    fn error_advice(&self, error: &WireError) -> Option<String> {
        let option = &self.options.server_option;
        let list_unless_mentioned = |what: &str, names: Vec<&str>| {
            let names = names.join(", ");
            let is_mentioned = error.message.contains(&names);
            (!is_mentioned).then(|| format!("{what}: {}", sanitize(&names)))
        };
        match error.code? {
            ErrorCode::NameTaken => {
                let name = sanitize(self.options.name.as_ref()?);
                Some(format!(
                    "if this is your account, log in with `ply login {name}{option}`; \
                     otherwise choose another --name"
                ))
            }
            ErrorCode::NotRegistered => Some(format!(
                "create an account with `ply register NAME{option}`"
            )),
            ErrorCode::UnknownMatch => Some(format!(
                "a code has six letters and digits; `ply list{option}` lists open and running \
                 matches, `ply games{option}` your own"
            )),
            ErrorCode::UnknownLevel => {
                let levels = self.welcome.as_ref()?.levels.iter();
                list_unless_mentioned("levels", levels.map(|level| &*level.level).collect())
            }
            ErrorCode::UnknownGame => {
                let games = self.welcome.as_ref()?.games.iter();
                list_unless_mentioned("games", games.map(|game| &*game.game).collect())
            }
            ErrorCode::SeatTaken => match &self.goal {
                Goal::Join(target) => {
                    let target = sanitize(target);
                    Some(format!("watch it with `ply watch {target}{option}`"))
                }
                Goal::Play(_) | Goal::Watch(_) | Goal::WatchBots(_) => None,
            },
            _ => None,
        }
    }
}

/// Returns whether the request is an optional action in a match, such as an offer, a chat message, a
/// hint, an abort, or adding a bot.
const fn is_player_interaction(message: &ClientMessage) -> bool {
    matches!(
        message,
        ClientMessage::Seat { .. }
            | ClientMessage::Offer { .. }
            | ClientMessage::Decline { .. }
            | ClientMessage::GiveTime { .. }
            | ClientMessage::Hint { .. }
            | ClientMessage::Say { .. }
            | ClientMessage::Abort { .. }
    )
}

/// Returns the delay before a retry, or `None` if the client must not retry the request.
fn retry_delay(error: &WireError, retries: u32) -> Option<Duration> {
    // A retry cannot succeed while the player has too many matches. The limit applies until one of
    // the matches ends.
    if !error.retryable || error.code == Some(ErrorCode::TooManyMatches) || retries >= RETRIES_MAX {
        return None;
    }
    let delay = error.retry_after_ms.map(Duration::from_millis);
    let delay = delay.unwrap_or(RETRY_DELAY * 2u32.pow(retries));
    Some(delay.min(RETRY_DELAY_MAX))
}
