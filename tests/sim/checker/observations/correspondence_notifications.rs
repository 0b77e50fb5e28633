//! Records the turn notifications and the lists of correspondence matches that clients receive.

use std::collections::BTreeSet;

use plyhouse_protocol::{ClientMessage, FollowedMatch, MatchId, PlayerId, Ply, Welcome};

use super::{ConnectionId, Observations, PendingRequest, ViolationKind};

/// Received turn notification.
#[derive(Debug)]
pub(crate) struct TurnNotification {
    pub(crate) connection: ConnectionId,
    pub(crate) at_us: u128,
    pub(crate) player: Option<PlayerId>,
    pub(crate) id: MatchId,
    pub(crate) game: String,
    pub(crate) ply: Ply,
    pub(crate) deadline_ms: u64,
}

/// Correspondence matches in a `welcome`.
#[derive(Debug)]
pub(crate) struct CorrespondenceList {
    pub(crate) player: PlayerId,
    /// Times at which the client sent `hello` and received the `welcome`, in microseconds.
    pub(crate) times: (u128, u128),
    pub(crate) rows: Vec<FollowedMatch>,
}

/// Connection that receives turn notifications.
#[derive(Debug)]
pub(crate) struct LoggedInConnection<'a> {
    pub(crate) connection: ConnectionId,
    pub(crate) player: PlayerId,
    /// When the `welcome` arrived. The connection has received turn notifications at least since
    /// then.
    pub(crate) from_us: u128,
    /// When the client sent its latest answered request, in microseconds. All messages that the
    /// server sent before that time have arrived.
    pub(crate) delivered_until_us: u128,
    /// Matches that the connection has followed at any time.
    pub(crate) ever_followed: &'a BTreeSet<MatchId>,
}

impl Observations {
    pub(super) fn record_turn_notification(
        &mut self,
        on: ConnectionId,
        id: MatchId,
        game: &str,
        (ply, due_ms): (Ply, u64),
    ) {
        let at_us = self.at_us;
        let connection = self.connection(on);
        let player = connection.player;
        let mut requests = connection.pending_requests.values();
        let leaves = requests.any(|waiting| {
            waiting.target == Some(id) && matches!(waiting.message, ClientMessage::Leave { .. })
        });
        if connection.followed_seqs.contains_key(&id) && !leaves {
            let about = format!("{on:?} follows {id} and received a turn notification");
            self.report(ViolationKind::WrongTurn, about);
        }
        self.turn_notifications.push(TurnNotification {
            connection: on,
            at_us,
            player,
            id,
            game: game.to_owned(),
            ply,
            deadline_ms: due_ms,
        });
    }

    pub(super) fn record_correspondence_list(
        &mut self,
        player: PlayerId,
        welcome: &Welcome,
        waiting: Option<&PendingRequest>,
    ) {
        // A `welcome` that resumes no session belongs to a new player, who has no matches.
        let Some(waiting) = waiting.filter(|_| welcome.resumed) else {
            return;
        };
        let rows = welcome
            .following
            .iter()
            .filter(|row| row.correspondence.is_some());
        self.correspondence_lists.push(CorrespondenceList {
            player,
            times: (waiting.sent_us, self.at_us),
            rows: rows.cloned().collect(),
        });
    }

    /// Returns the connections with a logged-in player.
    pub(crate) fn logged_in_connections(&self) -> impl Iterator<Item = LoggedInConnection<'_>> {
        let connections = self.connections.iter();
        connections.filter_map(|(on, connection)| {
            Some(LoggedInConnection {
                connection: *on,
                player: connection.player?,
                from_us: connection.welcomed_us?,
                delivered_until_us: connection.delivered_until_us,
                ever_followed: &connection.ever_followed,
            })
        })
    }
}
