//! What players are told of their matches of days.

use std::collections::BTreeSet;

use plyhouse_protocol::{ClientMessage, FollowedMatch, MatchId, PlayerId, Ply, Welcome};

use super::{ConnectionId, Kind, Reading, Waiting};

/// Somebody was told that it is their turn.
#[derive(Debug)]
pub(in crate::checker) struct TurnTold {
    pub(in crate::checker) on: ConnectionId,
    pub(in crate::checker) at_us: u128,
    pub(in crate::checker) player: Option<PlayerId>,
    pub(in crate::checker) id: MatchId,
    pub(in crate::checker) game: String,
    pub(in crate::checker) ply: Ply,
    pub(in crate::checker) due_ms: u64,
}

/// What a welcome has told of matches of days.
#[derive(Debug)]
pub(in crate::checker) struct RowsTold {
    pub(in crate::checker) player: PlayerId,
    /// When it was asked for, and when it came.
    pub(in crate::checker) times: (u128, u128),
    pub(in crate::checker) rows: Vec<FollowedMatch>,
}

/// A connection that is told of turns.
#[derive(Debug)]
pub(in crate::checker) struct Listener<'a> {
    pub(in crate::checker) on: ConnectionId,
    pub(in crate::checker) player: PlayerId,
    /// From when on at the latest it is told what happens.
    pub(in crate::checker) from_us: u128,
    /// What was told before this has come.
    pub(in crate::checker) heard_us: u128,
    /// The matches that it followed at some time.
    pub(in crate::checker) followed: &'a BTreeSet<MatchId>,
}

impl Reading {
    pub(super) fn told_turn(
        &mut self,
        on: ConnectionId,
        id: MatchId,
        game: &str,
        (ply, due_ms): (Ply, u64),
    ) {
        let at_us = self.at_us;
        let connection = self.connection(on);
        let player = connection.player;
        let mut asked = connection.waiting.values();
        let leaves = asked.any(|waiting| {
            waiting.target == Some(id) && matches!(waiting.message, ClientMessage::Leave { .. })
        });
        if connection.following.contains_key(&id) && !leaves {
            let about = format!("{on:?} follows {id} and is told that it is to move");
            self.fault(Kind::WrongTurn, about);
        }
        self.turns.push(TurnTold {
            on,
            at_us,
            player,
            id,
            game: game.to_owned(),
            ply,
            due_ms,
        });
    }

    pub(super) fn told_rows(
        &mut self,
        player: PlayerId,
        welcome: &Welcome,
        waiting: Option<&Waiting>,
    ) {
        // A new player has no match, of which nobody need be told.
        let Some(waiting) = waiting.filter(|_| welcome.resumed) else {
            return;
        };
        let rows = welcome
            .following
            .iter()
            .filter(|row| row.correspondence.is_some());
        self.rows.push(RowsTold {
            player,
            times: (waiting.sent_us, self.at_us),
            rows: rows.cloned().collect(),
        });
    }

    /// The connections on which somebody is known.
    pub(in crate::checker) fn listeners(&self) -> impl Iterator<Item = Listener<'_>> {
        let connections = self.connections.iter();
        connections.filter_map(|(on, connection)| {
            Some(Listener {
                on: *on,
                player: connection.player?,
                from_us: connection.welcomed_us?,
                heard_us: connection.heard_us,
                followed: &connection.followed,
            })
        })
    }
}
