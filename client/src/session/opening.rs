//! From the welcome to a match: go on with an old one, or ask what is wanted and get a new one.

use plyhouse_protocol::{
    ClientMessage, CreateRequest, MatchId, MatchRef, MatchStatus, Occupant, SeatNumber,
    SeatRequest, SeekRequest, Snapshot,
};

use super::questions::Question;
use super::{Effect, Goal, MatchOptions, MatchSetup, Opponent, PlaySession, Stage};
use crate::args::{DEFAULT_GAME, SideChoice};
use crate::harmless::sanitize;

/// How long a bot that plays a person in a terminal lets pass, so that its move is seen coming.
const COMPANY_PACE_MS: u64 = 400;

impl PlaySession {
    /// The first welcome is complete.
    pub(super) fn begin(&mut self) {
        match self.goal.clone() {
            Goal::Play(plan) => match self.interrupted(&plan) {
                Some(old) if self.interactive => {
                    let menu = self.resume_menu(&old);
                    self.question(Question::Resume(old.match_id), menu);
                }
                Some(old) => self.go_on(old),
                None => {
                    self.say_stood_in();
                    self.leave_open();
                    self.plan();
                }
            },
            Goal::Join(code) => {
                let target = MatchRef::from(&*code);
                match self.own_matches.iter().find(|old| is_named(old, target)) {
                    Some(old) if old.you.is_some() => self.go_on(old.clone()),
                    Some(_) | None => self.open(ClientMessage::Join { target, seat: None }),
                }
            }
            Goal::Watch(code) => self.open(ClientMessage::Watch {
                target: MatchRef::from(&*code),
            }),
            Goal::WatchBots {
                game,
                levels,
                min_move_interval_ms: pace_ms,
                initial_position: position,
            } => self.open(ClientMessage::Create(Box::new(CreateRequest {
                game,
                seats: Some(levels.map(SeatRequest::Bot)),
                bot_delay_ms: Some(pace_ms),
                position,
                ..CreateRequest::default()
            }))),
        }
    }

    /// The match that can be gone on with: one that fits the plan before one that does not, running
    /// before open, then the newest, since ids sort by the time of creation. A person is asked about
    /// any; otherwise it has to fit, and to be running, unless it is a friend who is waited for.
    fn interrupted(&self, plan: &MatchSetup) -> Option<Snapshot> {
        let waits = plan.opponent == Some(Opponent::Friend);
        let may_be = |old: &&Snapshot| match old.status {
            MatchStatus::Running => self.interactive || plan.fits(old),
            MatchStatus::Open => self.interactive || waits && plan.fits(old),
            MatchStatus::Ended => false,
        };
        let seated = self.own_matches.iter().filter(|old| old.you.is_some());
        seated
            .filter(may_be)
            .max_by_key(|old| {
                (
                    plan.fits(old),
                    old.status == MatchStatus::Running,
                    old.match_id,
                )
            })
            .cloned()
    }

    fn go_on(&mut self, old: Snapshot) {
        self.print("Back at the match that was interrupted.");
        self.seat_at(old);
    }

    /// Leaves the open matches of an earlier run, in which nobody waits any more. They would stay
    /// listed for as long as their player is connected.
    fn leave_open(&mut self) {
        let open = self
            .own_matches
            .iter()
            .filter(|old| old.you.is_some() && old.status == MatchStatus::Open);
        let open: Vec<MatchId> = open.map(|old| old.match_id).collect();
        for id in open {
            let target = id.into();
            self.send_untracked(ClientMessage::Leave { target });
            self.effects.push(Effect::RemoveSeatNote(id));
        }
    }

    /// Asks for what the plan lacks, or has it from its default; then asks for the match.
    pub(super) fn plan(&mut self) {
        let Goal::Play(mut plan) = self.goal.clone() else {
            return;
        };
        if let Some((question, menu)) = self.missing(&plan) {
            self.question(question, menu);
            return;
        }
        let game = plan.game.take().unwrap_or_else(|| DEFAULT_GAME.to_owned());
        let pace_ms = self.interactive.then_some(COMPANY_PACE_MS);
        let other = match plan.opponent.take() {
            Some(Opponent::Anyone(bot)) => {
                self.open(ClientMessage::Seek(Box::new(SeekRequest {
                    game,
                    bot,
                    clock: plan.options.clock,
                    rated: plan.options.rated,
                    stand_in: plan.options.stand_in_level,
                    ..SeekRequest::default()
                })));
                return;
            }
            Some(Opponent::Friend) => SeatRequest::Open,
            Some(Opponent::Bot(Some(level))) => SeatRequest::Bot(level),
            Some(Opponent::Bot(None)) | None => {
                let level = self
                    .levels()
                    .nth(self.middle_level())
                    .map(|(level, _)| level);
                SeatRequest::Bot(level.unwrap_or_default())
            }
        };
        let (seats, shuffle) = match plan.side {
            Some(SideChoice::First) | None => ([SeatRequest::Me, other], None),
            Some(SideChoice::Second) => ([other, SeatRequest::Me], None),
            Some(SideChoice::Random) => ([SeatRequest::Me, other], Some(true)),
        };
        self.open(ClientMessage::Create(Box::new(CreateRequest {
            game,
            seats: Some(seats),
            shuffle,
            bot_delay_ms: pace_ms,
            clock: plan.options.clock,
            takebacks_allowed: plan.options.allow_takebacks,
            rated: plan.options.rated,
            shows_bot_thinking: plan.options.show_thinking,
            position: plan.options.initial_position,
            absence_limit_ms: plan.options.absence_limit_ms,
            stand_in: plan.options.stand_in_level,
            invited: plan.options.invited_player,
            spectator_access: plan.options.spectator_access,
            spectator_delay_ms: plan.options.spectator_delay_ms,
            ..CreateRequest::default()
        })));
    }

    pub(super) fn resume(&mut self, id: MatchId, answer: usize) {
        let old = self
            .own_matches
            .iter()
            .find(|old| old.match_id == id)
            .cloned();
        match (old, answer) {
            // It may have moved on since the question was asked: look at it as it is now.
            (Some(old), 0) => self.open(ClientMessage::Watch {
                target: old.match_id.into(),
            }),
            (Some(old), 1) => {
                let (target, code) = (old.match_id.into(), sanitize(&old.code));
                if old.status == MatchStatus::Open {
                    self.print(format!("You leave {code}."));
                    self.send_untracked(ClientMessage::Leave { target });
                } else {
                    self.print(format!("You resign {code}."));
                    self.send_untracked(ClientMessage::Resign { target });
                }
                self.effects.push(Effect::RemoveSeatNote(id));
                self.plan();
            }
            (Some(_) | None, _) => self.plan(),
        }
    }

    pub(super) fn open(&mut self, message: ClientMessage) {
        let before = self.own_matches.iter().map(|old| old.match_id).collect();
        let seek = matches!(message, ClientMessage::Seek(_)).then(|| message.clone());
        self.stage = Stage::AwaitingMatch {
            previous_matches: before,
            seek,
        };
        self.send_request(message);
    }

    /// The connection was lost while a match was being asked for. It exists now, or is asked for again.
    pub(super) fn reopen(&mut self) {
        let Stage::AwaitingMatch {
            previous_matches: before,
            seek,
        } = &self.stage
        else {
            return;
        };
        let asked = self
            .pending_request
            .take()
            .map(|pending| pending.request.message);
        let came = match (&asked, &self.goal) {
            (Some(ClientMessage::Join { target, .. } | ClientMessage::Watch { target }), _) => self
                .own_matches
                .iter()
                .find(|new| is_named(new, *target) && new.you.is_some()),
            (_, Goal::Play(_) | Goal::WatchBots { .. }) => self
                .own_matches
                .iter()
                .find(|new| !before.contains(&new.match_id)),
            (_, Goal::Join(_) | Goal::Watch(_)) => None,
        };
        if let Some(new) = came.cloned() {
            self.seat_at(new);
        } else if let Some(message) = asked.or_else(|| seek.clone()) {
            self.send_request(message);
        }
    }
}

impl MatchSetup {
    /// Whether nothing is said of opponent and side, so that a match of the game is as good as
    /// another.
    pub(crate) fn takes_any(&self) -> bool {
        self.opponent.is_none() && self.side.is_none() && self.options == MatchOptions::default()
    }

    /// Whether a match that was interrupted is what is wanted now.
    pub(crate) fn fits(&self, old: &Snapshot) -> bool {
        let Some(me) = old.you else { return false };
        let other = old.seats.get(me.other().index());
        let Some(other) = other.map(|state| &state.occupant) else {
            return false;
        };
        let is_bot = |wanted: &str| matches!(other, Occupant::Bot { level, .. } if level == wanted);
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
        let start = self.options.initial_position.is_none()
            || self.options.initial_position == old.initial_position;
        let game = old.game == self.game.as_deref().unwrap_or(DEFAULT_GAME);
        game && opponent && side && clock && start
    }
}

fn is_named(old: &Snapshot, target: MatchRef) -> bool {
    match target {
        MatchRef::Id(id) => old.match_id == id,
        MatchRef::Code(code) => old.code == code.to_string(),
        MatchRef::Invalid => false,
    }
}
