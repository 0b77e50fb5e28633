//! What answers say.

use plyhouse_protocol::{ClientMessage, ErrorCode, ServerMessage, Welcome};

use super::{ConnectionId, Kind, Reading, Verdict, Waiting, Watch, wanted};

impl Reading {
    pub(super) fn welcomed(
        &mut self,
        on: ConnectionId,
        welcome: &Welcome,
        waiting: Option<&Waiting>,
    ) {
        let id = welcome.player.id;
        self.words.is_called(id, &welcome.player.name);
        let owner = self.tokens.get(welcome.token.reveal()).copied();
        if welcome.resumed && owner.is_some_and(|owner| owner != id) {
            let about = format!("{on:?} is {id} by the token of {owner:?}");
            self.fault(Kind::WrongPlayer, about);
        }
        if !welcome.resumed && self.tokens.values().any(|known| *known == id) {
            self.fault(Kind::WrongPlayer, format!("{on:?} is {id} without a token"));
        }
        if !welcome.resumed && waiting.is_some_and(|waiting| waiting.is_lasting) {
            self.fault(Kind::Forgotten, format!("who {on:?} was, now {id}"));
        }
        self.tokens.insert(welcome.token.reveal().to_owned(), id);
        for challenge in &welcome.challenges {
            self.challenges.push((Some(id), challenge.clone()));
        }
        self.told_rows(id, welcome, waiting);
        // Matches of days are listed and not shown.
        let shown = welcome
            .following
            .iter()
            .filter(|row| row.correspondence.is_none());
        let shown = shown.map(|followed| followed.match_id);
        let at_us = self.at_us;
        let connection = self.connection(on);
        connection.player = Some(id);
        connection.welcomed_us = Some(at_us);
        connection.promised = shown.collect();
    }

    pub(super) fn answered(
        &mut self,
        place: usize,
        on: ConnectionId,
        waiting: &Waiting,
        answer: &ServerMessage,
    ) {
        let verdict = Verdict::of(answer, self.settled_us.is_some());
        if let Some(asked) = waiting.asked.and_then(|asked| self.moves.get_mut(asked)) {
            asked.verdict = verdict;
            asked.answered = Some(place);
        }
        if let Some(wish) = waiting.wished.and_then(|wish| self.wishes.get_mut(wish)) {
            wish.verdict = verdict;
        }
        self.refusals += usize::from(verdict == Verdict::Refused);
        match (&waiting.message, waiting.target, verdict) {
            (ClientMessage::Move { .. }, Some(id), Verdict::Done(Some(seq))) => {
                let told = self.connection(on).following.get(&id).copied();
                if told.is_some_and(|told| told < seq.0) {
                    let about = format!("{on:?}: {answer:?}, only {told:?} was told");
                    self.fault(Kind::TooEarly, about);
                }
            }
            (ClientMessage::Move { .. }, _, Verdict::Done(_)) => {
                self.fault(Kind::BadAnswer, format!("{on:?}: {answer:?} to a move"));
            }
            (ClientMessage::Resign { .. }, Some(id), Verdict::Done(_)) => self.resigned.push(id),
            (ClientMessage::WatchList { game, status, .. }, _, Verdict::Done(_)) => {
                let filter = (game.clone(), *status);
                self.connection(on).watch = Some(Watch::new(filter, waiting.sent_us));
            }
            (ClientMessage::UnwatchList, _, Verdict::Done(_)) => self.connection(on).watch = None,
            (ClientMessage::Leave { .. }, Some(id), Verdict::Done(_)) => {
                self.watch_over(on, id);
            }
            (ClientMessage::Analyse { .. }, Some(id), Verdict::Done(_)) => self.analyses(on, id),
            _ => {}
        }
        if let (Some(id), Verdict::Done(_)) = (waiting.target, verdict)
            && self.connection(on).promised.contains(&id)
        {
            let about = format!("{on:?} is answered {answer:?} and was never shown {id}");
            self.fault(Kind::Gap, about);
        }
        if let (Some(is_listed), Verdict::Refused) = (wanted(&waiting.message), verdict)
            && let Some(player) = self.connection(on).player
            && let Some(hosted) = self.hosts.get_mut(&(player, is_listed))
        {
            *hosted -= 1;
        }
        // Ended matches, too, are kept for longer than a world lasts.
        if let (ServerMessage::Error(error), Some(id)) = (answer, waiting.target)
            && error.code == Some(ErrorCode::UnknownMatch)
            && waiting.newest > 0
        {
            if self.is_closed(on, id) {
                self.kept_out += 1;
                return;
            }
            self.fault(Kind::Forgotten, format!("{id}: {:?}", waiting.message));
        }
    }
}
