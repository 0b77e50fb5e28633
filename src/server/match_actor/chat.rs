//! What people say at a match: who may say what, how often, and who hears it. Nothing of it is stored.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Occupant, Stage};
use plyhouse_protocol::{ChatContent, ChatMode, ErrorCode, PlayerId, Said, WireError};

use super::MatchActor;
use crate::connection::id::ConnectionId;
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::match_handle::command::Command;
use crate::wire::to_protocol;

/// How many lines a snapshot shows.
pub(super) const LINES: usize = 20;

/// How much one player may say: so often within so long, and so often in all.
const AT_ONCE: usize = 5;
const WITHIN: Duration = Duration::from_secs(10);
const IN_ALL: u32 = 20;

/// Of how many players it is known what they have said. Beyond, whoever has been silent for longest may
/// begin anew.
const VOICES_MAX: usize = 256;

/// Who has said how much, in the order in which they spoke last.
#[derive(Debug, Default)]
pub(super) struct Chat(Vec<Voice>);

/// What one player has said.
#[derive(Debug)]
struct Voice {
    player: PlayerId,
    count: u32,
    /// When, of late.
    recent: VecDeque<Instant>,
    /// The last two.
    last: VecDeque<ChatContent>,
    /// The request that was heard last, which a server may hand on twice.
    request: (ConnectionId, u64),
}

/// What becomes of something that is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Now,
    /// It was heard when it was asked before.
    Before,
}

impl Chat {
    /// Has a player say something now, unless that is too much.
    fn speak(&mut self, command: &Command, saying: &ChatContent) -> Result<Heard, WireError> {
        let now = now();
        let request = (command.connection, command.cmd);
        let known = self.0.iter().position(|one| one.player == command.player);
        let place = known.unwrap_or_else(|| {
            if self.0.len() == VOICES_MAX {
                self.0.remove(0);
            }
            self.0.push(Voice {
                player: command.player,
                count: 0,
                recent: VecDeque::new(),
                last: VecDeque::new(),
                request: (ConnectionId::NOBODY, 0),
            });
            self.0.len() - 1
        });
        let voice = &mut self.0[place];
        if voice.request == request {
            return Ok(Heard::Before);
        }
        voice.judge(saying, now)?;
        voice.request = request;
        voice.count += 1;
        voice.recent.push_back(now);
        voice.last.push_back(saying.clone());
        if voice.last.len() > 2 {
            voice.last.pop_front();
        }
        self.0[place..].rotate_left(1);
        Ok(Heard::Now)
    }
}

impl Voice {
    fn judge(&mut self, saying: &ChatContent, now: Instant) -> Result<(), WireError> {
        let too_soon = |why| Err(WireError::new(ErrorCode::TooSoon, why));
        if self.count >= IN_ALL {
            return too_soon("you have said enough in this match");
        }
        if self.last.contains(saying) {
            return too_soon("you have just said that");
        }
        let is_over = |at: &mut Instant| now.saturating_duration_since(*at) >= WITHIN;
        while self.recent.pop_front_if(is_over).is_some() {}
        match self.recent.front().filter(|_| self.recent.len() >= AT_ONCE) {
            None => Ok(()),
            Some(first) => {
                let wait = WITHIN.saturating_sub(now.saturating_duration_since(*first));
                let error = WireError::new(ErrorCode::TooSoon, "you say too much at once");
                Err(WireError {
                    retry_after_ms: u64::try_from(wait.as_micros().div_ceil(1000)).ok(),
                    ..error
                })
            }
        }
    }
}

/// Whether this may be said at the match by whoever sits there, or by a spectator. Gives whether only
/// those who sit hear it.
fn judge(
    state: &Match,
    mode: ChatMode,
    seat: Option<Seat>,
    saying: &ChatContent,
) -> Result<bool, WireError> {
    let is_text = matches!(saying, ChatContent::Text(_));
    let has_ended = matches!(state.stage(), Stage::Ended { .. });
    let refused = match (mode, seat) {
        (ChatMode::Off, _) => Some("nothing can be said on this server"),
        (ChatMode::Presets, _) if is_text => Some("only presets can be said on this server"),
        (_, None) if is_text => Some("spectators say presets alone"),
        (_, None) if !has_ended => Some("spectators may speak once the match has ended"),
        _ => None,
    };
    if let Some(refused) = refused {
        return Err(WireError::new(ErrorCode::NotAllowed, refused));
    }
    let is_person = |seat| matches!(state.occupant(seat), Occupant::Player { .. });
    let is_between_people = state.stage() == Stage::Running && Seat::ALL.into_iter().all(is_person);
    Ok(is_text && is_between_people)
}

impl MatchActor {
    /// Has everybody hear what is said who may, if it may be said.
    pub(super) fn say(
        &mut self,
        command: &Command,
        name: &str,
        saying: &ChatContent,
        reply: Reply,
    ) {
        // Whoever asks from another server follows the match there.
        if command.relayed.is_none() && !self.follows(command) {
            return reply.refuse(ErrorCode::NotFollowing, "watch the match first");
        }
        let seat = self.state.seat_of(command.player);
        let mode = self.server.settings.chat;
        // Nobody is to learn from this that it is over.
        let known = match &self.delayed_view {
            Some(delayed) if self.state.seat_held_by(command.player).is_none() => delayed.state(),
            _ => &self.state,
        };
        let judged = judge(known, mode, seat, saying)
            .and_then(|among_players| Ok((among_players, self.voices.speak(command, saying)?)));
        let Some(((among_players, heard), reply)) = reply.check(judged) else {
            return;
        };
        if heard == Heard::Now {
            let seated = seat.map(|seat| self.state.occupant(seat));
            let (preset, text) = match saying {
                ChatContent::Preset(preset) => (Some(preset.as_str().to_owned()), None),
                ChatContent::Text(text) => (None, Some(text.as_str().to_owned())),
            };
            let said = Said {
                seat: seat.map(to_protocol::seat),
                name: match seated {
                    Some(Occupant::Player { name, .. }) => name.clone(),
                    _ => name.to_owned(),
                },
                preset,
                text,
            };
            let line = self
                .broadcaster
                .new_line(command.player, among_players, said);
            self.server.metrics.chat_messages.inc();
            self.broadcaster.hear(&self.state, &line);
            if let Some(delayed) = &mut self.delayed_view {
                delayed.said(&line);
            }
            if let Some(remotes) = &mut self.replicas {
                remotes.said(line);
            }
        }
        if command.relayed.is_some() {
            // What is heard goes before the answer.
            self.feed_remotes();
        }
        reply.ok(None);
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_protocol::Preset;
    use uuid::Uuid;

    use super::*;
    use crate::match_handle::command::MatchRequest;

    fn command(player: u128, cmd: u64) -> Command {
        let player = PlayerId(Uuid::from_u128(player));
        Command {
            cmd,
            ..Command::unasked(ConnectionId(1), player, MatchRequest::Watch)
        }
    }

    fn preset(number: u8) -> ChatContent {
        ChatContent::Preset(Preset::ALL[usize::from(number) % Preset::ALL.len()])
    }

    fn code(heard: Result<Heard, WireError>) -> Option<ErrorCode> {
        heard.err().and_then(|error| error.code)
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_says_more_than_five_things_in_ten_seconds() {
        let mut voices = Chat::default();
        for n in 0..5 {
            assert_eq!(
                voices.speak(&command(1, u64::from(n) + 1), &preset(n)),
                Ok(Heard::Now)
            );
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let refused = voices.speak(&command(1, 6), &preset(5)).unwrap_err();
        assert_eq!(refused.code, Some(ErrorCode::TooSoon));
        assert_eq!(refused.retry_after_ms, Some(5000));
        assert_eq!(voices.speak(&command(2, 1), &preset(5)), Ok(Heard::Now));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(voices.speak(&command(1, 7), &preset(5)), Ok(Heard::Now));
        assert_eq!(
            code(voices.speak(&command(1, 8), &preset(6))),
            Some(ErrorCode::TooSoon)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_repeats_what_they_said_just_now() {
        let mut voices = Chat::default();
        for (cmd, number, may) in [
            (1, 0, true),
            (2, 0, false),
            (3, 1, true),
            (4, 0, false),
            (5, 2, true),
            (6, 0, true),
        ] {
            let heard = voices.speak(&command(1, cmd), &preset(number));
            assert_eq!(heard.is_ok(), may, "{cmd}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_match_has_twenty_lines_of_a_player() {
        let mut voices = Chat::default();
        for cmd in 1..=21 {
            let heard = voices.speak(&command(1, cmd.into()), &preset(cmd));
            assert_eq!(heard.is_ok(), cmd <= 20, "{cmd}");
            tokio::time::advance(WITHIN).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_handed_on_twice_is_heard_once() {
        let mut voices = Chat::default();
        assert_eq!(voices.speak(&command(1, 1), &preset(0)), Ok(Heard::Now));
        assert_eq!(voices.speak(&command(1, 1), &preset(0)), Ok(Heard::Before));
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_speakers_is_bounded() {
        let mut voices = Chat::default();
        for player in 0..=VOICES_MAX as u128 {
            assert_eq!(
                voices.speak(&command(player, 1), &preset(0)),
                Ok(Heard::Now)
            );
        }
        assert_eq!(voices.0.len(), VOICES_MAX);
        // Whoever spoke first is not known any more, and whoever spoke last is.
        assert_eq!(voices.speak(&command(0, 2), &preset(0)), Ok(Heard::Now));
        let last = VOICES_MAX as u128;
        assert_eq!(
            code(voices.speak(&command(last, 2), &preset(0))),
            Some(ErrorCode::TooSoon)
        );
    }
}
