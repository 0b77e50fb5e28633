//! At a match: what happens is told, what is typed is played.

use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, Event, MatchId, Occupant, Reason, SeatNumber, Snapshot, Status,
};

use super::{Effect, FAREWELL, Goal, Session, Stage};
use crate::customs::Customs;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::identity::SeatNote;
use crate::table::{Applied, Table};
use crate::view::{self, FAINT, STRONG, paint};

/// The longest move that is sent. Notations are far shorter.
const MOVE_CHARS_MAX: usize = 32;

impl Session {
    /// Takes a place at a match, as player or spectator, or looks at it anew.
    pub(super) fn seat_at(&mut self, snapshot: Snapshot) {
        let known = self.table().map(|table| (table.now.seq, table.now.you));
        let over = snapshot.status == Status::Ended;
        let had_seat = matches!(known, Some((_, Some(_))));
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
        self.stage = Stage::AtTable(Box::new(Table::new(snapshot)));
        if unchanged {
            return self.say_turn();
        }
        if known.is_none() {
            self.say_place();
        }
        let Some(table) = self.table() else { return };
        match table.now.status {
            Status::Open if known.is_none() => self.say_invitation(),
            Status::Open => {}
            Status::Running => {
                self.say_board();
                self.say_turn();
            }
            Status::Ended => self.finish(true),
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
            Some(again @ (ClientMessage::Move { .. } | ClientMessage::Resign { .. }))
                if status == Status::Running =>
            {
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
        let Stage::AtTable(table) = &mut self.stage else {
            return;
        };
        if table.now.match_id != id {
            return;
        }
        match table.apply(event) {
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
            Event::Moved { seat, m, .. } => {
                self.say(view::moved(&now, *seat, m));
                // A move is shown with what it leads to: its `ended`, or a bot's answer to ours.
                let answered_at_once = now.you == Some(*seat) && is_bot(&now, now.turn);
                if now.turn.is_some() && !answered_at_once {
                    self.say_board();
                    self.say_turn();
                }
            }
            Event::Ended { outcome, .. } => self.finish(outcome.reason == Some(Reason::Rules)),
        }
    }

    /// Takes in who is there.
    pub(super) fn presence(&mut self, id: MatchId, seats: [Option<bool>; 2], spectators: u64) {
        let patience = self.patience();
        let Stage::AtTable(table) = &mut self.stage else {
            return;
        };
        if table.now.match_id != id {
            return;
        }
        let before = table.now.spectators;
        let changed = table.presence(seats, spectators);
        let now = table.now.clone();
        for seat in changed.into_iter().filter(|seat| now.you != Some(*seat)) {
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
            "" => self.say_turn(),
            "help" | "?" => self.say_help(customs),
            "board" => {
                self.say_board();
                self.say_turn();
            }
            "moves" => {
                let legal: Vec<String> = now.legal.iter().map(|m| harmless(m)).collect();
                self.say(if legal.is_empty() {
                    "No move is to be made now.".to_owned()
                } else {
                    legal.join(" ")
                });
            }
            "resign" if now.you.is_some() && now.status == Status::Running => {
                self.ask(ClientMessage::Resign {
                    target: now.match_id.into(),
                });
            }
            "resign" => self.complain("There is nothing to resign; `quit` leaves."),
            _ => self.play(&now, &customs.read_move(line)),
        }
    }

    fn play(&mut self, now: &Snapshot, m: &str) {
        let reason = match (now.status, now.you) {
            (_, None) => "You only look on.".to_owned(),
            (Status::Open, _) => "The match has not begun: a seat is still open.".to_owned(),
            (Status::Ended, _) => "The match is over.".to_owned(),
            (Status::Running, _) if now.turn != now.you => {
                format!("It is not your turn: {}", view::turn(now))
            }
            (Status::Running, _) if self.pending.is_some() => "One moment …".to_owned(),
            (Status::Running, _) if m.chars().count() > MOVE_CHARS_MAX => {
                "That is too long for a move; `help` tells what can be typed.".to_owned()
            }
            (Status::Running, _) => {
                let (target, m) = (now.match_id.into(), m.to_owned());
                return self.ask(ClientMessage::Move {
                    target,
                    ply: now.ply,
                    m,
                });
            }
        };
        self.complain(&reason);
    }

    /// Leaves as politely as the stage allows, and says what becomes of the seat.
    pub(super) fn farewell(&mut self) {
        let now = self.table().map(|table| table.now.clone());
        match now {
            Some(now) if now.you.is_some() && now.status == Status::Running && !self.can_return => {
                self.say("You leave the table, and there is no way back to your seat.");
                self.end(Err(Failure::Stopped));
            }
            Some(now) if now.you.is_some() && now.status == Status::Running => {
                let patience = view::span(self.patience());
                let command = paint(STRONG, &self.join_command());
                let held = format!(
                    "You leave the table. Your seat is held for {patience}; come back with"
                );
                self.say(format!("{held}\n\n    {command}\n"));
                self.end(Err(Failure::Stopped));
            }
            Some(now) if now.you.is_some() && now.status == Status::Open => {
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

    /// The command that leads to a seat of this match: one's own, or an open one.
    pub(super) fn join_command(&self) -> String {
        let code = self
            .table()
            .map_or_else(String::new, |table| harmless(&table.now.code));
        format!("ply join {code}{}", self.server_option)
    }

    fn patience(&self) -> Duration {
        let limits = self.welcome.as_ref().map(|welcome| welcome.limits);
        Duration::from_millis(limits.map_or(0, |limits| limits.abandon_after_ms))
    }

    fn finish(&mut self, with_board: bool) {
        let Some(now) = self.table().map(|table| table.now.clone()) else {
            return;
        };
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
            .is_some_and(|outcome| outcome.reason == Some(Reason::Aborted));
        // An aborted match is a failure for a player, not for a spectator.
        self.end(if aborted && now.you.is_some() {
            Err(Failure::Stopped)
        } else {
            Ok(())
        });
    }

    fn say_place(&mut self) {
        let Some(now) = self.table().map(|table| &table.now) else {
            return;
        };
        let title = view::title(now, self.game(&now.game));
        self.say(title);
    }

    fn say_invitation(&mut self) {
        let Some(now) = self.table().map(|table| &table.now) else {
            return;
        };
        let waits_for_other = now.seats.iter().any(|seat| seat.occupant == Occupant::Open);
        if now.you.is_none() {
            self.say_turn();
        } else if waits_for_other {
            let command = paint(STRONG, &self.join_command());
            self.say(format!(
                "\nA friend sits down with\n\n    {command}\n\nWaiting …"
            ));
        }
    }

    fn say_board(&mut self) {
        let Some(now) = self.table().map(|table| &table.now) else {
            return;
        };
        let text = view::table(now, self.game(&now.game), self.columns);
        self.say(text);
    }

    fn say_turn(&mut self) {
        let Some(now) = self.table().map(|table| &table.now) else {
            return;
        };
        let text = match now.status {
            Status::Open => "Waiting for somebody to sit down …".to_owned(),
            // A spectator sees it from the mark, and the bot's move follows soon.
            Status::Running if now.you.is_none() && is_bot(now, now.turn) => String::new(),
            Status::Running | Status::Ended => view::turn(now),
        };
        if !text.is_empty() {
            self.say(text);
        }
        self.say_how_to_move();
    }

    /// Says once, at the first turn, what can be typed.
    fn say_how_to_move(&mut self) {
        let Some(table) = self.table().filter(|table| table.my_turn()) else {
            return;
        };
        let customs = Customs::of(&table.now.game);
        let example = table.now.legal.first().map_or("", String::as_str);
        let example = harmless(customs.example().unwrap_or(example));
        if self.interactive && !std::mem::replace(&mut self.taught, true) {
            let text = format!("Type {example}; `help` for more.");
            self.say(paint(FAINT, &text));
        }
    }

    fn say_help(&mut self, customs: Customs) {
        let row = |what: &str, does: &str| {
            format!("  {}  {does}\n", paint(STRONG, &format!("{what:<7}")))
        };
        let text = [
            format!("Type {}.\n", customs.how_to_move()),
            row("board", "draw the board again"),
            row("moves", "list the moves that can be played"),
            row("resign", "give up: the other side wins"),
            row("quit", "leave; the seat is held for a while"),
        ];
        self.say(text.concat());
    }
}

fn is_bot(now: &Snapshot, seat: Option<SeatNumber>) -> bool {
    seat.and_then(|seat| now.seats.get(seat.index()))
        .is_some_and(|state| matches!(state.occupant, Occupant::Bot { .. }))
}
