//! At a match: what happens is told, what is typed is played.

use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, EndReason, Event, MatchId, MatchStatus, Occupant, SeatNumber, Snapshot,
};

use super::help::{Asked, help};
use super::rematch::next_of;
use super::{Effect, Goal, LEAVE_TIMEOUT, PlaySession, Stage};
use crate::customs::Customs;
use crate::failure::Failure;
use crate::harmless::sanitize;
use crate::identity::SeatNote;
use crate::table::{ApplyResult, MatchState};
use crate::view::{self, FAINT, STRONG, paint};

/// The longest move that is sent. Notations are far shorter.
const MOVE_CHARS_MAX: usize = 32;

impl PlaySession {
    /// Takes a place at a match, as player or spectator, or looks at it anew.
    pub(super) fn seat_at(&mut self, snapshot: Snapshot) {
        let same =
            (self.match_state()).filter(|table| table.snapshot.match_id == snapshot.match_id);
        let known = same.map(|table| (table.snapshot.seq, table.snapshot.you));
        let over = snapshot.status == MatchStatus::Ended;
        let had_seat = matches!(known, Some((_, Some(_))));
        if snapshot.you.is_none() && !over && self.is_stood_in(&snapshot) {
            self.print("A bot has played on for you; you take your seat back.");
            let target = snapshot.match_id.into();
            self.stage = Stage::InMatch(Box::new(MatchState::received_at(snapshot, self.now)));
            return self.send_request(ClientMessage::Join { target, seat: None });
        }
        if snapshot.you.is_none() && had_seat && !over {
            let what = "the server no longer knows you; the match goes on without you";
            return self.end(Err(Failure::Failed(what.to_owned())));
        }
        if snapshot.you.is_none() && over && matches!(self.goal, Goal::Join(_)) {
            let what = "the match is over, and you had no seat in it";
            return self.end(Err(Failure::Refused(what.to_owned())));
        }
        if snapshot.you.is_some() {
            self.effects.push(Effect::AddSeatNote(SeatNote {
                id: snapshot.match_id,
                code: snapshot.code.clone(),
                game: snapshot.game.clone(),
            }));
        }
        let unchanged = known.is_some_and(|(seq, _)| seq == snapshot.seq);
        self.stage = Stage::InMatch(Box::new(MatchState::received_at(snapshot, self.now)));
        if unchanged {
            let next = self
                .match_state()
                .and_then(|table| next_of(&table.snapshot));
            if let Some(result) = self.result_after_rating.take() {
                let now = self.match_state().map(|table| table.snapshot.clone());
                return now.map_or((), |now| self.end_rated(&now, result));
            }
            return match next.filter(|_| self.final_result.is_some()) {
                // It has begun while nobody was connected.
                Some(next) => self.send_request(ClientMessage::Watch {
                    target: next.into(),
                }),
                None => self.say_turn(),
            };
        }
        if known.is_none() {
            if self.final_result.take().is_some() {
                self.effects.push(Effect::CancelStop);
            }
            self.say_place();
        }
        let Some(table) = self.match_state() else {
            return;
        };
        match table.snapshot.status {
            MatchStatus::Open if known.is_none() => self.say_invitation(),
            MatchStatus::Open => {}
            MatchStatus::Running => {
                self.say_board();
                self.say_turn();
            }
            MatchStatus::Ended => self.finish(true),
        }
    }

    /// The connection is back: on with the match as the server has it now.
    pub(super) fn back_at_table(&mut self) {
        let Some(id) = self.match_state().map(|table| table.snapshot.match_id) else {
            return;
        };
        let pending = self
            .pending_request
            .take()
            .map(|pending| pending.request.message);
        let Some(snapshot) = self
            .own_matches
            .iter()
            .find(|mine| mine.match_id == id)
            .cloned()
        else {
            // Only watched, or ended meanwhile.
            return self.send_request(ClientMessage::Watch { target: id.into() });
        };
        let (ply, status) = (snapshot.ply, snapshot.status);
        self.seat_at(snapshot);
        match pending {
            // A move that was not answered may have been played or not: the ply tells.
            Some(ClientMessage::Move { ply: asked, .. }) if asked != ply => {}
            // An offer that stands already is made again in vain.
            Some(
                again @ (ClientMessage::Move { .. }
                | ClientMessage::Resign { .. }
                | ClientMessage::Offer { .. }),
            ) if status == MatchStatus::Running => {
                self.send_request(again);
            }
            Some(again @ ClientMessage::Leave { .. }) => self.send_request(again),
            Some(_) | None => {}
        }
    }

    /// Takes in one event of a match.
    pub(super) fn event(&mut self, event: &Event) {
        let id = event.match_id();
        if let Some(mine) = self.own_matches.iter_mut().find(|mine| mine.match_id == id) {
            let mut table = MatchState::new(mine.clone());
            table.apply(event);
            *mine = table.snapshot;
            if matches!(event, Event::Ended { .. }) {
                self.effects.push(Effect::RemoveSeatNote(id));
            }
        }
        let at = self.now;
        let Some(table) = self.match_state_mut(id) else {
            return;
        };
        match table.apply_at(event, at) {
            ApplyResult::Duplicate => return,
            ApplyResult::Gap => {
                let since = table.snapshot.seq;
                return self.send_untracked(ClientMessage::Resync {
                    target: id.into(),
                    since,
                });
            }
            ApplyResult::Applied => {}
        }
        let now = table.snapshot.clone();
        match event {
            Event::Seated { seat, .. } => self.print(view::seated_text(&now, *seat)),
            Event::Started { .. } => {
                self.print("The match begins.");
                self.say_board();
                self.say_turn();
            }
            Event::Moved { seat, m, san, .. } => {
                self.print(view::move_text(&now, *seat, san.as_ref().unwrap_or(m)));
                // A move is shown with what it leads to: its `ended`, or a bot's answer to ours.
                let answered_at_once = now.you == Some(*seat) && is_bot(&now, now.turn);
                if now.turn.is_some() && !answered_at_once {
                    self.say_board();
                    self.say_turn();
                }
            }
            Event::TakenBack { .. } => {
                self.print("Moves are taken back.");
                self.say_board();
                self.say_turn();
            }
            Event::Offered { offer, .. } => self.print(view::offer_text(&now, offer)),
            Event::Declined {
                seat, offer, by, ..
            } => self.print(view::declined_offer_text(&now, *seat, *offer, *by)),
            Event::TimeGiven { seat, ms, .. } => {
                let (who, to) = (
                    view::seat_subject(&now, seat.other()),
                    view::seat_subject(&now, *seat),
                );
                let time = view::duration_text(Duration::from_millis(*ms));
                self.print(format!("{who} gives {to} {time} more."));
            }
            Event::Hinted { seat, .. } => {
                let who = view::seat_subject(&now, *seat);
                self.print(format!("{who} has asked for a hint."));
            }
            Event::Ended { outcome, .. } => self.finish(outcome.reason == Some(EndReason::Rules)),
        }
    }

    /// Takes in who is there.
    pub(super) fn presence(
        &mut self,
        id: MatchId,
        seats: [Option<bool>; 2],
        gone_ms: [Option<u64>; 2],
        spectators: u64,
    ) {
        let at = self.now;
        let Some(table) = self.match_state_mut(id) else {
            return;
        };
        table.set_absences(gone_ms, at);
        let gone = table.remaining_absences(at);
        let before = table.snapshot.spectators;
        let changed = table.update_presence(seats, spectators);
        let now = table.snapshot.clone();
        for seat in changed.into_iter().filter(|seat| now.you != Some(*seat)) {
            // Older servers tell it of all matches at once.
            let patience = gone.get(seat.index()).copied().flatten();
            let patience = patience.or_else(|| self.patience());
            self.print(view::presence_text(&now, seat, patience));
        }
        if spectators != before && now.you.is_some() {
            let count = match spectators {
                0 => "Nobody looks on any more.".to_owned(),
                1 => "One spectator looks on.".to_owned(),
                more => format!("{more} spectators look on."),
            };
            self.print(paint(FAINT, &count));
        }
    }

    /// Does what was typed.
    pub(super) fn command(&mut self, line: &str) {
        let Some(now) = self.match_state().map(|table| table.snapshot.clone()) else {
            return;
        };
        let customs = Customs::of(&now.game);
        match line.to_ascii_lowercase().as_str() {
            "" if now.status == MatchStatus::Open => self.say_invitation(),
            "" => self.say_turn(),
            "help" | "?" => self.say_help(customs, &now),
            "board" => {
                self.say_board();
                self.say_turn();
            }
            "moves" => {
                let legal: Vec<String> = now.legal.iter().map(|m| sanitize(m)).collect();
                self.print(if legal.is_empty() {
                    "No move is to be made now.".to_owned()
                } else {
                    legal.join(" ")
                });
            }
            "played" if now.moves.is_empty() => self.print("No move has been played."),
            "played" => self.print(view::move_list(&now)),
            "resign" if now.you.is_some() && now.status == MatchStatus::Running => {
                self.send_request(ClientMessage::Resign {
                    target: now.match_id.into(),
                });
            }
            "resign" => self.print_error("There is nothing to resign; `quit` leaves."),
            word if word.starts_with("say ") => self.speak(&now, line["say ".len()..].trim()),
            word => {
                if !self.seat_bot(&now, word) && !self.offer_word(&now, word) {
                    self.play(&now, &customs.read_move(line, &now.legal));
                }
            }
        }
    }

    fn play(&mut self, now: &Snapshot, m: &str) {
        let reason = match (now.status, now.you) {
            (_, None) => "You only look on.".to_owned(),
            (MatchStatus::Open, _) => "The match has not begun: a seat is still open.".to_owned(),
            (MatchStatus::Ended, _) => "The match is over.".to_owned(),
            (MatchStatus::Running, _) if now.turn != now.you => {
                format!("It is not your turn: {}", view::turn_text(now))
            }
            (MatchStatus::Running, _) if self.pending_request.is_some() => {
                "One moment …".to_owned()
            }
            (MatchStatus::Running, _) if m.chars().count() > MOVE_CHARS_MAX => {
                "That is too long for a move; `help` tells what can be typed.".to_owned()
            }
            (MatchStatus::Running, _) => {
                let (target, m) = (now.match_id.into(), m.to_owned());
                return self.send_request(ClientMessage::Move {
                    target,
                    ply: now.ply,
                    m,
                    takebacks: Some(now.takebacks),
                });
            }
        };
        self.print_error(&reason);
    }

    /// Leaves as politely as the stage allows, and says what becomes of the seat.
    pub(super) fn farewell(&mut self) {
        let now = self.match_state().map(|table| table.snapshot.clone());
        match now {
            Some(now)
                if now.you.is_some() && now.status == MatchStatus::Running && !self.can_resume =>
            {
                self.print("You leave the table, and there is no way back to your seat.");
                self.end(Err(Failure::Stopped));
            }
            Some(now) if now.you.is_some() && now.status == MatchStatus::Running => {
                let then = match &now.stand_in {
                    Some(_) => ", then a bot plays on for you",
                    None => "",
                };
                let held = self.patience().map_or_else(String::new, |patience| {
                    format!(
                        " Your seat is held for {}{then}.",
                        view::duration_text(patience)
                    )
                });
                let command = paint(STRONG, &self.join_command());
                let held = format!("You leave the table.{held} Come back with");
                self.print(format!("{held}\n\n    {command}\n"));
                self.end(Err(Failure::Stopped));
            }
            Some(now) if now.you.is_some() && now.status == MatchStatus::Open => {
                self.print("You leave the match.");
                self.effects.push(Effect::RemoveSeatNote(now.match_id));
                self.send_request(ClientMessage::Leave {
                    target: now.match_id.into(),
                });
                self.effects.push(Effect::StopWithin(LEAVE_TIMEOUT));
            }
            Some(_) | None => self.end(Err(Failure::Stopped)),
        }
    }

    /// The seat is no longer the player's. In a match that runs a bot keeps it.
    pub(super) fn left(&mut self) {
        let runs = |table: &MatchState| table.snapshot.status == MatchStatus::Running;
        if self.match_state().is_some_and(runs) {
            let command = paint(STRONG, &self.join_command());
            self.print(format!(
                "A bot plays on for you. Come back with\n\n    {command}\n"
            ));
        }
        self.end(Err(Failure::Stopped));
    }

    /// The command that leads to a seat of this match: one's own, or an open one.
    pub(super) fn join_command(&self) -> String {
        let code = self
            .match_state()
            .map_or_else(String::new, |table| sanitize(&table.snapshot.code));
        format!("ply join {code}{}", self.server_option)
    }

    /// For how long one's own seat is held; nothing where that is not known, or for ever.
    fn patience(&self) -> Option<Duration> {
        let now = &self.match_state()?.snapshot;
        let is_of_days = now.clock.is_some_and(|clock| clock.is_correspondence());
        let limits = self.welcome.as_ref().map(|welcome| welcome.limits);
        let usual = limits.map(|limits| limits.abandon_after_ms);
        let ms = now.absence_limit_ms.or(usual).filter(|_| !is_of_days);
        ms.map(Duration::from_millis)
    }

    fn finish(&mut self, with_board: bool) {
        let Some(table) = self.match_state() else {
            return;
        };
        let (now, has_begun) = (table.snapshot.clone(), table.has_begun);
        self.effects.push(Effect::RemoveSeatNote(now.match_id));
        if with_board {
            self.say_board();
        }
        let leaving = self
            .pending_request
            .as_ref()
            .map(|pending| &pending.request.message);
        if matches!(leaving, Some(ClientMessage::Leave { .. })) {
            return self.end(Err(Failure::Stopped));
        }
        if let Some(outcome) = &now.outcome {
            self.print(view::outcome_text(&now, outcome));
        }
        let aborted = now
            .outcome
            .as_ref()
            .is_some_and(|outcome| outcome.reason == Some(EndReason::Aborted));
        // An aborted match is a failure for a player, not for a spectator.
        let result = if aborted && now.you.is_some() {
            Err(Failure::Stopped)
        } else {
            Ok(())
        };
        if self.interactive && now.you.is_some() && (has_begun || !aborted) {
            return self.wait_for_rematch(result);
        }
        if self.follows_rematches && now.you.is_none() {
            return self.watch_for_rematch(&now);
        }
        self.end_rated(&now, result);
    }

    fn say_place(&mut self) {
        let Some(now) = self.match_state().map(|table| &table.snapshot) else {
            return;
        };
        let title = view::match_title(now, self.game_summary(&now.game));
        let series = view::series_score(now);
        let is_apart = now.initial_position.is_some();
        self.print(title);
        if is_apart {
            self.print("It begins with a position of its own.");
        }
        if let Some(series) = series {
            self.print(series);
        }
    }

    fn say_board(&mut self) {
        let Some(now) = self.match_state().map(|table| &table.snapshot) else {
            return;
        };
        if self.is_board_visible {
            return;
        }
        let text = view::render_match(
            now,
            self.game_summary(&now.game),
            self.columns,
            self.since(),
        );
        self.print(text);
    }

    pub(super) fn say_turn(&mut self) {
        let Some(now) = self.match_state().map(|table| &table.snapshot) else {
            return;
        };
        let text = match now.status {
            MatchStatus::Open => "Waiting for somebody to sit down …".to_owned(),
            // A spectator sees it from the mark, and the bot's move follows soon.
            MatchStatus::Running if now.you.is_none() && is_bot(now, now.turn) => String::new(),
            MatchStatus::Running | MatchStatus::Ended => view::turn_text(now),
        };
        if !text.is_empty() && !self.is_board_visible {
            self.print(text);
        }
        self.say_how_to_move();
    }

    /// For how long the clocks have run since they were told.
    pub(super) fn since(&self) -> Duration {
        let told = self.match_state().map(|table| table.clock_updated_at);
        self.now.saturating_sub(told.unwrap_or(self.now))
    }

    /// Says once, at the first turn, what can be typed.
    fn say_how_to_move(&mut self) {
        let Some(table) = self.match_state().filter(|table| table.is_my_turn()) else {
            return;
        };
        let customs = Customs::of(&table.snapshot.game);
        let example = table.snapshot.legal.first().map_or("", String::as_str);
        let example = sanitize(customs.example().unwrap_or(example));
        if self.interactive && !std::mem::replace(&mut self.is_help_shown, true) {
            let text = format!("Type {example}; `help` for more.");
            self.print(paint(FAINT, &text));
        }
    }

    fn say_help(&mut self, customs: Customs, now: &Snapshot) {
        self.print(help(Asked {
            customs,
            is_open: now.status == MatchStatus::Open,
            has_stand_in: now.stand_in.is_some(),
            board_in_sight: self.is_board_visible,
        }));
    }
}

fn is_bot(now: &Snapshot, seat: Option<SeatNumber>) -> bool {
    seat.and_then(|seat| now.seats.get(seat.index()))
        .is_some_and(|state| matches!(state.occupant, Occupant::Bot { .. }))
}
