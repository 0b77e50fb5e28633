//! Steps from the first `welcome` to a match: resumes an earlier match, or prompts for the setup
//! and requests a new match.

use plyhouse_protocol::{
    ClientMessage, CreateRequest, MatchId, MatchRef, MatchStatus, Occupant, SeatNumber,
    SeatRequest, SeekRequest, Snapshot,
};

use super::setup_prompts::PromptKind;
use super::{Effect, Goal, MatchSetup, Opponent, PlaySession, Stage};
use crate::args::{DEFAULT_GAME, SideChoice};
use crate::sanitize::sanitize;

/// Minimum time between the user's move and the bot's move, in milliseconds. It gives an
/// interactive user time to notice the bot's move.
const BOT_MOVE_DELAY_MS: u64 = 400;

impl PlaySession {
    /// Starts the action that the user has requested, such as playing or watching a match. Must be
    /// called after the first `welcome` and its snapshots have arrived.
    pub(super) fn start_goal(&mut self) {
        match self.goal.clone() {
            Goal::Play(setup) => match self.resumable_match(&setup) {
                Some(old) if self.options.interactive => {
                    let prompt = self.resume_prompt(&old);
                    self.show_prompt(PromptKind::Resume(old.match_id), prompt);
                }
                Some(old) => self.resume_match(old),
                None => {
                    self.print_stand_in_matches();
                    self.leave_open_matches();
                    self.continue_setup();
                }
            },
            Goal::Join(code) => {
                let target = MatchRef::from(&*code);
                let mut own_matches = self.own_matches.iter();
                match own_matches.find(|old| has_match_ref(old, target)) {
                    Some(old) if old.you.is_some() => self.resume_match(old.clone()),
                    _ => self.request_match(ClientMessage::Join { target, seat: None }),
                }
            }
            Goal::Watch(code) => self.request_match(ClientMessage::Watch {
                target: MatchRef::from(&*code),
            }),
            Goal::WatchBots(create) => {
                self.request_match(ClientMessage::Create(Box::new(create)));
            }
        }
    }

    /// Returns the match to resume, if any. In an interactive run, every open or running match is a
    /// candidate. In a non-interactive run, a candidate must fit the setup. A non-interactive run
    /// resumes an open match only if the setup waits for a friend to join.
    ///
    /// If there are several candidates, prefers a match that fits the setup, then a running match,
    /// then the newest match. A higher id means a newer match, because ids sort by creation time.
    fn resumable_match(&self, setup: &MatchSetup) -> Option<Snapshot> {
        let waits_for_friend = setup.opponent == Some(Opponent::Friend);
        let is_candidate = |old: &&Snapshot| match old.status {
            MatchStatus::Running => self.options.interactive || setup.accepts_match(old),
            MatchStatus::Open => {
                self.options.interactive || waits_for_friend && setup.accepts_match(old)
            }
            MatchStatus::Ended => false,
        };
        let seated_matches = self.own_matches.iter().filter(|old| old.you.is_some());
        let rank = |old: &&Snapshot| {
            let is_running = old.status == MatchStatus::Running;
            (setup.accepts_match(old), is_running, old.match_id)
        };
        let candidates = seated_matches.filter(is_candidate);
        candidates.max_by_key(rank).cloned()
    }

    fn resume_match(&mut self, old: Snapshot) {
        self.print("Resuming your match.");
        self.enter_match(old);
    }

    /// Leaves the open matches of earlier runs. While the player is connected, the server would
    /// otherwise keep offering them in the list of open matches.
    fn leave_open_matches(&mut self) {
        let open_matches = self
            .own_matches
            .iter()
            .filter(|old| old.you.is_some() && old.status == MatchStatus::Open);
        let open_ids: Vec<MatchId> = open_matches.map(|old| old.match_id).collect();
        for id in open_ids {
            let target = id.into();
            self.send_untracked(ClientMessage::Leave { target });
            self.effects.push(Effect::RemoveSeatNote(id));
        }
    }

    /// Prompts for the next missing part of the setup. If nothing is missing, or the run is not
    /// interactive, requests the match.
    pub(super) fn continue_setup(&mut self) {
        let Goal::Play(mut setup) = self.goal.clone() else {
            return;
        };
        if let Some((question, prompt)) = self.next_prompt(&setup) {
            self.show_prompt(question, prompt);
            return;
        }
        let game = setup.game.take().unwrap_or_else(|| DEFAULT_GAME.to_owned());
        let bot_delay_ms = self.options.interactive.then_some(BOT_MOVE_DELAY_MS);
        let opponent_seat = match setup.opponent.take() {
            Some(Opponent::Anyone(bot)) => {
                self.request_match(ClientMessage::Seek(Box::new(SeekRequest {
                    game,
                    bot,
                    clock: setup.options.clock,
                    rated: setup.options.rated,
                    stand_in: setup.options.stand_in,
                    ..SeekRequest::default()
                })));
                return;
            }
            Some(Opponent::Friend) => SeatRequest::Open,
            Some(Opponent::Bot(Some(level))) => SeatRequest::Bot(level),
            Some(Opponent::Bot(None)) | None => {
                let level = self.levels().nth(self.middle_level_index());
                SeatRequest::Bot(level.map(|(level, _)| level).unwrap_or_default())
            }
        };
        let (seats, shuffle) = match setup.side {
            Some(SideChoice::First) | None => ([SeatRequest::Me, opponent_seat], None),
            Some(SideChoice::Second) => ([opponent_seat, SeatRequest::Me], None),
            Some(SideChoice::Random) => ([SeatRequest::Me, opponent_seat], Some(true)),
        };
        self.request_match(ClientMessage::Create(Box::new(CreateRequest {
            game,
            seats: Some(seats),
            shuffle,
            bot_delay_ms,
            ..setup.options
        })));
    }

    pub(super) fn on_resume_choice(&mut self, id: MatchId, choice: usize) {
        let mut own_matches = self.own_matches.iter();
        let old = own_matches.find(|old| old.match_id == id).cloned();
        match (old, choice) {
            // The match may have changed while the prompt was shown, so the client requests the
            // current snapshot.
            (Some(old), 0) => self.request_match(ClientMessage::Watch {
                target: old.match_id.into(),
            }),
            (Some(old), 1) => {
                let (target, code) = (old.match_id.into(), sanitize(&old.code));
                if old.status == MatchStatus::Open {
                    self.print(format!("Leaving match {code}."));
                    self.send_untracked(ClientMessage::Leave { target });
                } else {
                    self.print(format!("Resigning match {code}."));
                    self.send_untracked(ClientMessage::Resign { target });
                }
                self.effects.push(Effect::RemoveSeatNote(id));
                self.continue_setup();
            }
            (Some(_) | None, _) => self.continue_setup(),
        }
    }

    pub(super) fn request_match(&mut self, message: ClientMessage) {
        let previous_matches = self.own_matches.iter().map(|old| old.match_id).collect();
        let seek = matches!(message, ClientMessage::Seek(_)).then(|| message.clone());
        self.stage = Stage::AwaitingMatch {
            previous_matches,
            seek,
        };
        self.send_request(message);
    }

    /// Recovers a match request whose response was lost with the connection. Enters the match if
    /// the request has succeeded, and otherwise sends the request again.
    pub(super) fn recover_match_request(&mut self) {
        let unanswered = self.take_pending_message();
        let Stage::AwaitingMatch {
            previous_matches,
            seek,
        } = &self.stage
        else {
            return;
        };
        let mut own_matches = self.own_matches.iter();
        let found_match = match (&unanswered, &self.goal) {
            (Some(ClientMessage::Join { target, .. } | ClientMessage::Watch { target }), _) => {
                own_matches.find(|new| has_match_ref(new, *target) && new.you.is_some())
            }
            (_, Goal::Play(_) | Goal::WatchBots(_)) => {
                own_matches.find(|new| !previous_matches.contains(&new.match_id))
            }
            (_, Goal::Join(_) | Goal::Watch(_)) => None,
        };
        if let Some(new) = found_match.cloned() {
            self.enter_match(new);
        } else if let Some(message) = unanswered.or_else(|| seek.clone()) {
            self.send_request(message);
        }
    }
}

impl MatchSetup {
    /// Returns whether the user chose no opponent, no side and no options, so that any match of the
    /// game fits the setup.
    pub(crate) fn accepts_any_match(&self) -> bool {
        self.opponent.is_none() && self.side.is_none() && self.options == CreateRequest::default()
    }

    /// Returns whether an existing match has the game, opponent, side, clock and initial position
    /// that the setup requires.
    pub(crate) fn accepts_match(&self, old: &Snapshot) -> bool {
        let Some(me) = old.you else { return false };
        let other = old.seats.get(me.other().index());
        let Some(other) = other.map(|state| &state.occupant) else {
            return false;
        };
        let is_bot = |expected_level: &str| matches!(other, Occupant::Bot { level, .. } if level == expected_level);
        let opponent = match &self.opponent {
            None => true,
            Some(Opponent::Bot(None)) => matches!(other, Occupant::Bot { .. }),
            Some(Opponent::Bot(Some(level))) => is_bot(level),
            Some(Opponent::Friend) => !matches!(other, Occupant::Bot { .. }),
            Some(Opponent::Anyone(level)) => {
                matches!(other, Occupant::Player { .. })
                    || level.as_ref().is_some_and(|level| is_bot(level))
            }
        };
        let side = match self.side {
            Some(SideChoice::First) => me == SeatNumber(0),
            Some(SideChoice::Second) => me == SeatNumber(1),
            Some(SideChoice::Random) | None => true,
        };
        let clock = self.options.clock.is_none() || self.options.clock == old.clock;
        let start =
            self.options.position.is_none() || self.options.position == old.initial_position;
        let game = old.game == self.game.as_deref().unwrap_or(DEFAULT_GAME);
        game && opponent && side && clock && start
    }
}

fn has_match_ref(old: &Snapshot, target: MatchRef) -> bool {
    match target {
        MatchRef::Id(id) => old.match_id == id,
        MatchRef::Code(code) => old.code == code.to_string(),
        MatchRef::Invalid => false,
    }
}
