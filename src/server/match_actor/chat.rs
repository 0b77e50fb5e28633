//! Chat of a match: permissions, rate limits and recipients. Chat messages are not stored.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Occupant, Stage};
use plyhouse_protocol::{ChatContent, ChatEntry, ChatMode, ErrorCode, PlayerId, WireError};

use super::MatchActor;
use crate::connection::id::ConnectionId;
use crate::connection::reply::Reply;
use crate::context::clock_and_rng::now;
use crate::match_handle::command::Command;
use crate::wire::error_replies::retry_error;
use crate::wire::to_protocol;

/// Maximum number of chat messages in a snapshot.
pub(super) const CHAT_HISTORY_MAX: usize = 20;

/// Limits for one player: messages per time window, and messages per match.
const BURST_MAX: usize = 5;
const BURST_WINDOW: Duration = Duration::from_secs(10);
const MESSAGES_PER_PLAYER_MAX: u32 = 20;

/// Maximum number of players whose chat activity is tracked. If another player writes, the entry of
/// the player who has been silent longest is deleted. That player then starts with fresh limits.
const SPEAKERS_MAX: usize = 256;

/// Chat activity of the players, ordered by the time of their last message.
#[derive(Debug, Default)]
pub(super) struct Chat(Vec<Speaker>);

/// Chat activity of one player.
#[derive(Debug)]
struct Speaker {
    player: PlayerId,
    message_count: u32,
    /// Times of the messages within the last [`BURST_WINDOW`].
    recent_times: VecDeque<Instant>,
    /// The player's last two messages. A new message must differ from both of these messages.
    last_messages: VecDeque<ChatContent>,
    /// Connection ID and request number of the player's last accepted chat request. They identify
    /// the duplicate if another server forwards the same request twice.
    last_request: (ConnectionId, u64),
}

/// Result of a valid chat request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChatOutcome {
    Accepted,
    /// The request was already accepted earlier.
    Duplicate,
}

impl Chat {
    /// Returns whether no player has sent a chat message.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Accepts a player's chat message unless it exceeds the player's limits.
    fn accept(
        &mut self,
        command: &Command,
        content: &ChatContent,
    ) -> Result<ChatOutcome, WireError> {
        let now = now();
        let request = (command.connection, command.request_number);
        let mut speakers = self.0.iter();
        let index = speakers.position(|speaker| speaker.player == command.player);
        let index = index.unwrap_or_else(|| {
            if self.0.len() == SPEAKERS_MAX {
                self.0.remove(0);
            }
            self.0.push(Speaker {
                player: command.player,
                message_count: 0,
                recent_times: VecDeque::new(),
                last_messages: VecDeque::new(),
                last_request: (ConnectionId::NONE, 0),
            });
            self.0.len() - 1
        });
        let speaker = &mut self.0[index];
        if speaker.last_request == request {
            return Ok(ChatOutcome::Duplicate);
        }
        speaker.check_rate(content, now)?;
        speaker.last_request = request;
        speaker.message_count += 1;
        speaker.recent_times.push_back(now);
        speaker.last_messages.push_back(content.clone());
        if speaker.last_messages.len() > 2 {
            speaker.last_messages.pop_front();
        }
        self.0[index..].rotate_left(1);
        Ok(ChatOutcome::Accepted)
    }
}

impl Speaker {
    fn check_rate(&mut self, content: &ChatContent, now: Instant) -> Result<(), WireError> {
        let too_soon = |why| Err(WireError::new(ErrorCode::TooSoon, why));
        if self.message_count >= MESSAGES_PER_PLAYER_MAX {
            return too_soon("you have reached the chat limit for this match");
        }
        if self.last_messages.contains(content) {
            return too_soon("you have just sent the same message");
        }
        let is_expired = |at: &mut Instant| now.saturating_duration_since(*at) >= BURST_WINDOW;
        while self.recent_times.pop_front_if(is_expired).is_some() {}
        let is_burst = self.recent_times.len() >= BURST_MAX;
        match self.recent_times.front().filter(|_| is_burst) {
            None => Ok(()),
            Some(first) => {
                let wait = BURST_WINDOW.saturating_sub(now.saturating_duration_since(*first));
                let message = "you are sending messages too fast";
                Err(retry_error(ErrorCode::TooSoon, message, wait))
            }
        }
    }
}

/// Checks whether a player in the given seat may send this chat message. If `seat` is `None`, the
/// sender is a spectator. Returns whether only the seated players receive the message.
fn check_allowed(
    state: &Match,
    mode: ChatMode,
    seat: Option<Seat>,
    content: &ChatContent,
) -> Result<bool, WireError> {
    let is_text = matches!(content, ChatContent::Text(_));
    let has_ended = matches!(state.stage(), Stage::Ended { .. });
    let refuse = |why| Err(WireError::new(ErrorCode::NotAllowed, why));
    match (mode, seat) {
        (ChatMode::Off, _) => return refuse("chat is off on this server"),
        (ChatMode::Presets, _) if is_text => {
            return refuse("only preset messages are allowed on this server");
        }
        (_, None) if is_text => return refuse("spectators can send only preset messages"),
        (_, None) if !has_ended => {
            return refuse("spectators can send messages only after the match has ended");
        }
        _ => {}
    }
    let is_person = |seat| matches!(state.occupant(seat), Occupant::Player { .. });
    let is_human_match = state.stage() == Stage::Running && Seat::ALL.into_iter().all(is_person);
    Ok(is_text && is_human_match)
}

impl MatchActor {
    /// Sends a chat message to its recipients, if it is allowed.
    pub(super) fn send_chat(
        &mut self,
        command: &Command,
        name: &str,
        content: &ChatContent,
        reply: Reply,
    ) {
        // If another server relayed the command, that server has already checked that the sender
        // follows the match.
        if command.relay.is_none() && !self.follows(command) {
            return reply.refuse(ErrorCode::NotFollowing, "watch the match first");
        }
        let seat = self.view.state.seat_of(command.player);
        let mode = self.server.infra.settings.chat;
        // For a spectator, check the delayed match state. A refusal must not reveal that a delayed
        // match has ended.
        let delayed = self.delayed_view_for(command.player);
        let visible_state = delayed.map_or(&self.view.state, |delayed| &delayed.view.state);
        let outcome = check_allowed(visible_state, mode, seat, content)
            .and_then(|among_players| Ok((among_players, self.chat.accept(command, content)?)));
        let Some(((among_players, outcome), reply)) = reply.require(outcome) else {
            return;
        };
        if outcome == ChatOutcome::Accepted {
            let seated = seat.map(|seat| self.view.state.occupant(seat));
            let (preset, text) = match content {
                ChatContent::Preset(preset) => (Some(preset.as_str().to_owned()), None),
                ChatContent::Text(text) => (None, Some(text.as_str().to_owned())),
            };
            let chat = ChatEntry {
                seat: seat.map(to_protocol::seat),
                name: match seated {
                    Some(Occupant::Player { name, .. }) => name.clone(),
                    _ => name.to_owned(),
                },
                preset,
                text,
            };
            let view = &self.view;
            let message = view.new_chat_message(command.player, among_players, chat);
            self.server.infra.metrics.chat_messages.inc();
            self.broadcast_chat(&message);
        }
        if command.relay.is_some() {
            // The chat message must reach the other servers before the reply does.
            self.send_replica_updates();
        }
        reply.ok(None);
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_protocol::ChatPreset;
    use uuid::Uuid;

    use super::*;
    use crate::match_handle::command::MatchRequest;

    fn command(player: u128, cmd: u64) -> Command {
        let player = PlayerId(Uuid::from_u128(player));
        Command {
            request_number: cmd,
            ..Command::unsolicited(ConnectionId(1), player, MatchRequest::Watch)
        }
    }

    fn preset(number: u8) -> ChatContent {
        ChatContent::Preset(ChatPreset::ALL[usize::from(number) % ChatPreset::ALL.len()])
    }

    fn error_code(outcome: Result<ChatOutcome, WireError>) -> Option<ErrorCode> {
        outcome.err().and_then(|error| error.code)
    }

    #[tokio::test(start_paused = true)]
    async fn sixth_message_within_ten_seconds_is_refused() {
        let mut chat = Chat::default();
        for n in 0..5 {
            assert_eq!(
                chat.accept(&command(1, u64::from(n) + 1), &preset(n)),
                Ok(ChatOutcome::Accepted)
            );
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let error = chat.accept(&command(1, 6), &preset(5)).unwrap_err();
        assert_eq!(error.code, Some(ErrorCode::TooSoon));
        assert_eq!(error.retry_after_ms, Some(5000));
        assert_eq!(
            chat.accept(&command(2, 1), &preset(5)),
            Ok(ChatOutcome::Accepted)
        );
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(
            chat.accept(&command(1, 7), &preset(5)),
            Ok(ChatOutcome::Accepted)
        );
        assert_eq!(
            error_code(chat.accept(&command(1, 8), &preset(6))),
            Some(ErrorCode::TooSoon)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn repeat_of_the_last_two_messages_is_refused() {
        let mut chat = Chat::default();
        for (cmd, number, is_accepted) in [
            (1, 0, true),
            (2, 0, false),
            (3, 1, true),
            (4, 0, false),
            (5, 2, true),
            (6, 0, true),
        ] {
            let outcome = chat.accept(&command(1, cmd), &preset(number));
            assert_eq!(outcome.is_ok(), is_accepted, "{cmd}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn player_is_limited_to_twenty_messages_per_match() {
        let mut chat = Chat::default();
        for cmd in 1..=21 {
            let outcome = chat.accept(&command(1, cmd.into()), &preset(cmd));
            assert_eq!(outcome.is_ok(), cmd <= 20, "{cmd}");
            tokio::time::advance(BURST_WINDOW).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn forwarded_request_received_twice_is_a_duplicate() {
        let mut chat = Chat::default();
        assert_eq!(
            chat.accept(&command(1, 1), &preset(0)),
            Ok(ChatOutcome::Accepted)
        );
        assert_eq!(
            chat.accept(&command(1, 1), &preset(0)),
            Ok(ChatOutcome::Duplicate)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn speaker_limit_evicts_the_speaker_silent_longest() {
        let mut chat = Chat::default();
        for player in 0..=SPEAKERS_MAX as u128 {
            assert_eq!(
                chat.accept(&command(player, 1), &preset(0)),
                Ok(ChatOutcome::Accepted)
            );
        }
        assert_eq!(chat.0.len(), SPEAKERS_MAX);
        // The first speaker's entry was evicted, so the first speaker may repeat a message. The
        // last speaker still has an entry and may not repeat a message.
        assert_eq!(
            chat.accept(&command(0, 2), &preset(0)),
            Ok(ChatOutcome::Accepted)
        );
        let last = SPEAKERS_MAX as u128;
        assert_eq!(
            error_code(chat.accept(&command(last, 2), &preset(0))),
            Some(ErrorCode::TooSoon)
        );
    }
}
