//! Checks that each reply fits its request.

use plyhouse_protocol::{ClientMessage, ErrorCode, ServerMessage, Welcome};

use super::{
    ConnectionId, Observations, PendingRequest, RequestResult, ViolationKind, WatchedList,
    requested_listing,
};

impl Observations {
    pub(super) fn check_welcome(
        &mut self,
        on: ConnectionId,
        welcome: &Welcome,
        waiting: Option<&PendingRequest>,
    ) {
        let id = welcome.player.id;
        self.chat_blocks.add_name(id, &welcome.player.name);
        let owner = self.players_by_token.get(welcome.token.reveal()).copied();
        if welcome.resumed && owner.is_some_and(|owner| owner != id) {
            let about = format!("{on:?} was logged in as {id} with the token of {owner:?}");
            self.report(ViolationKind::WrongPlayer, about);
        }
        if !welcome.resumed && self.players_by_token.values().any(|known| *known == id) {
            self.report(
                ViolationKind::WrongPlayer,
                format!("{on:?} was logged in as {id} without a token"),
            );
        }
        if !welcome.resumed && waiting.is_some_and(|waiting| waiting.must_resume) {
            self.report(
                ViolationKind::UnknownMatchOrPlayer,
                format!("{on:?} presented a token of a known player and was logged in as {id}"),
            );
        }
        self.players_by_token
            .insert(welcome.token.reveal().to_owned(), id);
        for challenge in &welcome.challenges {
            self.challenges.push((Some(id), challenge.clone()));
        }
        self.record_correspondence_list(id, welcome, waiting);
        // The `welcome` only lists correspondence matches. The server sends the player's other
        // matches as snapshots.
        let shown = welcome
            .following
            .iter()
            .filter(|row| row.correspondence.is_none());
        let shown = shown.map(|followed| followed.match_id);
        let at_us = self.at_us;
        let connection = self.connection(on);
        connection.player = Some(id);
        connection.welcomed_us = Some(at_us);
        connection.expected_snapshots = shown.collect();
    }

    pub(super) fn check_reply(
        &mut self,
        index: usize,
        on: ConnectionId,
        waiting: &PendingRequest,
        answer: &ServerMessage,
    ) {
        let result = RequestResult::from_reply(answer, self.settled_us.is_some());
        let moves = &mut self.move_requests;
        if let Some(request) = waiting.move_request.and_then(|at| moves.get_mut(at)) {
            request.result = result;
            request.reply_index = Some(index);
        }
        let consents = &mut self.consent_requests;
        if let Some(request) = waiting.consent_request.and_then(|at| consents.get_mut(at)) {
            request.result = result;
        }
        self.refusals += usize::from(result == RequestResult::Refused);
        match (&waiting.message, waiting.target, result) {
            (ClientMessage::Move { .. }, Some(id), RequestResult::Accepted(Some(seq))) => {
                let last_seq = self.connection(on).followed_seqs.get(&id).copied();
                if last_seq.is_some_and(|last_seq| last_seq < seq.0) {
                    let about = format!(
                        "{on:?}: {answer:?}; {last_seq:?}, the last event received, is older"
                    );
                    self.report(ViolationKind::ReplyBeforeEvent, about);
                }
            }
            (ClientMessage::Move { .. }, _, RequestResult::Accepted(_)) => {
                let about = format!("{on:?}: {answer:?} as the reply to a move");
                self.report(ViolationKind::InvalidReply, about);
            }
            (ClientMessage::Resign { .. }, Some(id), RequestResult::Accepted(_)) => {
                self.resigned_matches.push(id)
            }
            (ClientMessage::WatchList { game, status, .. }, _, RequestResult::Accepted(_)) => {
                let filter = (game.clone(), *status);
                self.connection(on).watched_list = Some(WatchedList::new(filter, waiting.sent_us));
            }
            (ClientMessage::UnwatchList, _, RequestResult::Accepted(_)) => {
                self.connection(on).watched_list = None
            }
            (ClientMessage::Leave { .. }, Some(id), RequestResult::Accepted(_)) => {
                self.end_following(on, id);
            }
            (ClientMessage::Analyse { .. }, Some(id), RequestResult::Accepted(_)) => {
                self.begin_analysis(on, id)
            }
            _ => {}
        }
        if let (Some(id), RequestResult::Accepted(_)) = (waiting.target, result)
            && self.connection(on).expected_snapshots.contains(&id)
        {
            let about = format!("{on:?} received {answer:?} without a snapshot of {id}");
            self.report(ViolationKind::SeqGap, about);
        }
        if let (Some(is_listed), RequestResult::Refused) =
            (requested_listing(&waiting.message), result)
            && let Some(player) = self.connection(on).player
            && let Some(hosted) = self.host_requests.get_mut(&(player, is_listed))
        {
            *hosted -= 1;
        }
        // The server must know the match, because it keeps ended matches for longer than a run
        // lasts.
        if let (ServerMessage::Error(error), Some(id)) = (answer, waiting.target)
            && error.code == Some(ErrorCode::UnknownMatch)
            && waiting.latest_seq > 0
        {
            if self.is_hidden_from(on, id) {
                self.access_denials += 1;
                return;
            }
            self.report(
                ViolationKind::UnknownMatchOrPlayer,
                format!("{id}: {:?}", waiting.message),
            );
        }
    }
}
