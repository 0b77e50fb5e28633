//! At a match: what happens is told, what is typed is played.

use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, EndReason, Event, MatchId, MatchStatus, Occupant, SeatNumber, Snapshot,
};

use super::help::{Asked, help};
use super::rematch::next_of;
use super::{Effect, FAREWELL, Goal, Session, Stage};
use crate::customs::Customs;
use crate::failure::Failure;
use crate::harmless::sanitize;
use crate::identity::SeatNote;
use crate::table::{Applied, Table};
use crate::view::{self, FAINT, STRONG, paint};

/// The longest move that is sent. Notations are far shorter.
const MOVE_CHARS_MAX: usize = 32;

impl Session {
    /// Takes a place at a match, as player or spectator, or looks at it anew.
    pub(super) fn seat_at(&mut self, snapshot: Snapshot) {
        let same = (self.table()).filter(|table| table.now.match_id == snapshot.match_id);
        let known = same.map(|table| (table.now.seq, table.now.you));
        let over = snapshot.status == MatchStatus::Ended;
        let had_seat = matches!(known, Some((_, Some(_))));
        if snapshot.you.is_none() && !over && self.is_stood_in(&snapshot) {
            self.say("A bot has played on for you; you take your seat back.");
            let target = snapshot.match_id.into();
            self.stage = Stage::AtTable(Box::new(Table::told_at(snapshot, self.now)));
            return self.ask(ClientMessage::Join { target, seat: None });
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
            self.out.push(Effect::Sat(SeatNote {
                id: snapshot.match_id,
                code: snapshot.code.clone(),
                game: snapshot.game.clone(),
            }));
        }
        let unchanged = known.is_some_and(|(seq, _)| seq == snapshot.seq);
        self.stage = Stage::AtTable(Box::new(Table::told_at(snapshot, self.now)));
        if unchanged {
            let next = self.table().and_then(|table| next_of(&table.now));
            if let Some(result) = self.unrated.take() {
                let now = self.table().map(|table| table.now.clone());
                return now.map_or((), |now| self.end_rated(&now, result));
            }
            return match next.filter(|_| self.over.is_some()) {
                // It has begun while nobody was connected.
                Some(next) => self.ask(ClientMessage::Watch {
                    target: next.into(),
                }),
                None => self.say_turn(),
            };
        }
        if known.is_none() {
            if self.over.take().is_some() {
                self.out.push(Effect::GoOn);
            }
            self.say_place();
        }
        let Some(table) = self.table() else { return };
        match table.now.status {
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
        let Some(id) = self.table().map(|table| table.now.match_id) else {
            return;
        };
        let pending = self.pending.take().map(|pending| pending.request.message);
        let Some(snapshot) = self.mine.iter().find(|mine| mine.match_id == id).cloned() else {
            // Only watched, or ended meanwhile.
            return self.ask(ClientMessage::Watch { target: id.into() });
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
                self.ask(again);
            }
            Some(again @ ClientMessage::Leave { .. }) => self.ask(again),
            Some(_) | None => {}
        }
    }

    /// Takes in one event of a match.
    pub(super) fn event(&mut self, event: &Event) {
        let id = event.match_id();
        if let Some(mine) = self.mine.iter_mut().find(|mine| mine.match_id == id) {
            let mut table = Table::new(mine.clone());
            table.apply(event);
            *mine = table.now;
            if matches!(event, Event::Ended { .. }) {
                self.out.push(Effect::Left(id));
            }
        }
        let at = self.now;
        let Some(table) = self.table_of(id) else {
            return;
        };
        match table.apply_at(event, at) {
            Applied::Known => return,
            Applied::Gap => {
                let since = table.now.seq;
                return self.tell(ClientMessage::Resync {
                    target: id.into(),
                    since,
                });
            }
            Applied::Next => {}
        }
        let now = table.now.clone();
        match event {
            Event::Seated { seat, .. } => self.say(view::seated(&now, *seat)),
            Event::Started { .. } => {
                self.say("The match begins.");
                self.say_board();
                self.say_turn();
            }
            Event::Moved { seat, m, san, .. } => {
                self.say(view::moved(&now, *seat, san.as_ref().unwrap_or(m)));
                // A move is shown with what it leads to: its `ended`, or a bot's answer to ours.
                let answered_at_once = now.you == Some(*seat) && is_bot(&now, now.turn);
                if now.turn.is_some() && !answered_at_once {
                    self.say_board();
                    self.say_turn();
                }
            }
            Event::TakenBack { .. } => {
                self.say("Moves are taken back.");
                self.say_board();
                self.say_turn();
            }
            Event::Offered { offer, .. } => self.say(view::offered(&now, offer)),
            Event::Declined {
                seat, offer, by, ..
            } => self.say(view::declined(&now, *seat, *offer, *by)),
            Event::TimeGiven { seat, ms, .. } => {
                let (who, to) = (view::who(&now, seat.other()), view::who(&now, *seat));
                let time = view::span(Duration::from_millis(*ms));
                self.say(format!("{who} gives {to} {time} more."));
            }
            Event::Hinted { seat, .. } => {
                let who = view::who(&now, *seat);
                self.say(format!("{who} has asked for a hint."));
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
        let Some(table) = self.table_of(id) else {
            return;
        };
        table.absence(gone_ms, at);
        let gone = table.gone(at);
        let before = table.now.spectators;
        let changed = table.presence(seats, spectators);
        let now = table.now.clone();
        for seat in changed.into_iter().filter(|seat| now.you != Some(*seat)) {
            // Older servers tell it of all matches at once.
            let patience = gone.get(seat.index()).copied().flatten();
            let patience = patience.or_else(|| self.patience());
            self.say(view::presence(&now, seat, patience));
        }
        if spectators != before && now.you.is_some() {
            let count = match spectators {
                0 => "Nobody looks on any more.".to_owned(),
                1 => "One spectator looks on.".to_owned(),
                more => format!("{more} spectators look on."),
            };
            self.say(paint(FAINT, &count));
        }
    }

    /// Does what was typed.
    pub(super) fn command(&mut self, line: &str) {
        let Some(now) = self.table().map(|table| table.now.clone()) else {
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
                self.say(if legal.is_empty() {
                    "No move is to be made now.".to_owned()
                } else {
                    legal.join(" ")
                });
            }
            "played" if now.moves.is_empty() => self.say("No move has been played."),
            "played" => self.say(view::line(&now)),
            "resign" if now.you.is_some() && now.status == MatchStatus::Running => {
                self.ask(ClientMessage::Resign {
                    target: now.match_id.into(),
                });
            }
            "resign" => self.complain("There is nothing to resign; `quit` leaves."),
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
                format!("It is not your turn: {}", view::turn(now))
            }
            (MatchStatus::Running, _) if self.pending.is_some() => "One moment …".to_owned(),
            (MatchStatus::Running, _) if m.chars().count() > MOVE_CHARS_MAX => {
                "That is too long for a move; `help` tells what can be typed.".to_owned()
            }
            (MatchStatus::Running, _) => {
                let (target, m) = (now.match_id.into(), m.to_owned());
                return self.ask(ClientMessage::Move {
                    target,
                    ply: now.ply,
                    m,
                    takebacks: Some(now.takebacks),
                });
            }
        };
        self.complain(&reason);
    }

    /// Leaves as politely as the stage allows, and says what becomes of the seat.
    pub(super) fn farewell(&mut self) {
        let now = self.table().map(|table| table.now.clone());
        match now {
            Some(now)
                if now.you.is_some() && now.status == MatchStatus::Running && !self.can_return =>
            {
                self.say("You leave the table, and there is no way back to your seat.");
                self.end(Err(Failure::Stopped));
            }
            Some(now) if now.you.is_some() && now.status == MatchStatus::Running => {
                let then = match &now.stand_in {
                    Some(_) => ", then a bot plays on for you",
                    None => "",
                };
                let held = self.patience().map_or_else(String::new, |patience| {
                    format!(" Your seat is held for {}{then}.", view::span(patience))
                });
                let command = paint(STRONG, &self.join_command());
                let held = format!("You leave the table.{held} Come back with");
                self.say(format!("{held}\n\n    {command}\n"));
                self.end(Err(Failure::Stopped));
            }
            Some(now) if now.you.is_some() && now.status == MatchStatus::Open => {
                self.say("You leave the match.");
                self.out.push(Effect::Left(now.match_id));
                self.ask(ClientMessage::Leave {
                    target: now.match_id.into(),
                });
                self.out.push(Effect::StopWithin(FAREWELL));
            }
            Some(_) | None => self.end(Err(Failure::Stopped)),
        }
    }

    /// The seat is no longer the player's. In a match that runs a bot keeps it.
    pub(super) fn left(&mut self) {
        let runs = |table: &Table| table.now.status == MatchStatus::Running;
        if self.table().is_some_and(runs) {
            let command = paint(STRONG, &self.join_command());
            self.say(format!(
                "A bot plays on for you. Come back with\n\n    {command}\n"
            ));
        }
        self.end(Err(Failure::Stopped));
    }

    /// The command that leads to a seat of this match: one's own, or an open one.
    pub(super) fn join_command(&self) -> String {
        let code = self
            .table()
            .map_or_else(String::new, |table| sanitize(&table.now.code));
        format!("ply join {code}{}", self.server_option)
    }

    /// For how long one's own seat is held; nothing where that is not known, or for ever.
    fn patience(&self) -> Option<Duration> {
        let now = &self.table()?.now;
        let is_of_days = now.clock.is_some_and(|clock| clock.is_correspondence());
        let limits = self.welcome.as_ref().map(|welcome| welcome.limits);
        let usual = limits.map(|limits| limits.abandon_after_ms);
        let ms = now.absence_limit_ms.or(usual).filter(|_| !is_of_days);
        ms.map(Duration::from_millis)
    }

    fn finish(&mut self, with_board: bool) {
        let Some(table) = self.table() else {
            return;
        };
        let (now, has_begun) = (table.now.clone(), table.has_begun);
        self.out.push(Effect::Left(now.match_id));
        if with_board {
            self.say_board();
        }
        let leaving = self
            .pending
            .as_ref()
            .map(|pending| &pending.request.message);
        if matches!(leaving, Some(ClientMessage::Leave { .. })) {
            return self.end(Err(Failure::Stopped));
        }
        if let Some(outcome) = &now.outcome {
            self.say(view::ended(&now, outcome));
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
        if self.watches_series && now.you.is_none() {
            return self.watch_for_rematch(&now);
        }
        self.end_rated(&now, result);
    }

    fn say_place(&mut self) {
        let Some(now) = self.table().map(|table| &table.now) else {
            return;
        };
        let title = view::title(now, self.game(&now.game));
        let series = view::series(now);
        let is_apart = now.initial_position.is_some();
        self.say(title);
        if is_apart {
            self.say("It begins with a position of its own.");
        }
        if let Some(series) = series {
            self.say(series);
        }
    }

    fn say_board(&mut self) {
        let Some(now) = self.table().map(|table| &table.now) else {
            return;
        };
        if self.board_in_sight {
            return;
        }
        let text = view::table(now, self.game(&now.game), self.columns, self.since());
        self.say(text);
    }

    pub(super) fn say_turn(&mut self) {
        let Some(now) = self.table().map(|table| &table.now) else {
            return;
        };
        let text = match now.status {
            MatchStatus::Open => "Waiting for somebody to sit down …".to_owned(),
            // A spectator sees it from the mark, and the bot's move follows soon.
            MatchStatus::Running if now.you.is_none() && is_bot(now, now.turn) => String::new(),
            MatchStatus::Running | MatchStatus::Ended => view::turn(now),
        };
        if !text.is_empty() && !self.board_in_sight {
            self.say(text);
        }
        self.say_how_to_move();
    }

    /// For how long the clocks have run since they were told.
    pub(super) fn since(&self) -> Duration {
        let told = self.table().map(|table| table.told_at);
        self.now.saturating_sub(told.unwrap_or(self.now))
    }

    /// Says once, at the first turn, what can be typed.
    fn say_how_to_move(&mut self) {
        let Some(table) = self.table().filter(|table| table.my_turn()) else {
            return;
        };
        let customs = Customs::of(&table.now.game);
        let example = table.now.legal.first().map_or("", String::as_str);
        let example = sanitize(customs.example().unwrap_or(example));
        if self.interactive && !std::mem::replace(&mut self.taught, true) {
            let text = format!("Type {example}; `help` for more.");
            self.say(paint(FAINT, &text));
        }
    }

    fn say_help(&mut self, customs: Customs, now: &Snapshot) {
        self.say(help(Asked {
            customs,
            is_open: now.status == MatchStatus::Open,
            has_stand_in: now.stand_in.is_some(),
            board_in_sight: self.board_in_sight,
        }));
    }
}

fn is_bot(now: &Snapshot, seat: Option<SeatNumber>) -> bool {
    seat.and_then(|seat| now.seats.get(seat.index()))
        .is_some_and(|state| matches!(state.occupant, Occupant::Bot { .. }))
}
