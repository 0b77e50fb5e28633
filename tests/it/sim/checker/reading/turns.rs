//! What players are told of their matches of days.

use std::collections::BTreeSet;

use plyhouse_protocol::{ClientMessage, FollowedMatch, MatchId, PlayerId, Ply, Welcome};

use super::{ConnectionId, Kind, Reading, Waiting};

/// Somebody was told that it is their turn.
#[derive(Debug)]
pub(in crate::sim::checker) struct TurnTold {
    pub(in crate::sim::checker) on: ConnectionId,
    pub(in crate::sim::checker) at_us: u128,
    pub(in crate::sim::checker) player: Option<PlayerId>,
    pub(in crate::sim::checker) id: MatchId,
    pub(in crate::sim::checker) game: String,
    pub(in crate::sim::checker) ply: Ply,
    pub(in crate::sim::checker) due_ms: u64,
}

/// What a welcome has told of matches of days.
#[derive(Debug)]
pub(in crate::sim::checker) struct RowsTold {
    pub(in crate::sim::checker) player: PlayerId,
    /// When it was asked for, and when it came.
    pub(in crate::sim::checker) times: (u128, u128),
    pub(in crate::sim::checker) rows: Vec<FollowedMatch>,
}

/// A connection that is told of turns.
#[derive(Debug)]
pub(in crate::sim::checker) struct Listener<'a> {
    pub(in crate::sim::checker) on: ConnectionId,
    pub(in crate::sim::checker) player: PlayerId,
    /// From when on at the latest it is told what happens.
    pub(in crate::sim::checker) from_us: u128,
    /// What was told before this has come.
    pub(in crate::sim::checker) heard_us: u128,
    /// The matches that it followed at some time.
    pub(in crate::sim::checker) followed: &'a BTreeSet<MatchId>,
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
        let rows = welcome.following.iter().filter(|row| row.days.is_some());
        self.rows.push(RowsTold {
            player,
            times: (waiting.sent_us, self.at_us),
            rows: rows.cloned().collect(),
        });
    }

    /// The connections on which somebody is known.
    pub(in crate::sim::checker) fn listeners(&self) -> impl Iterator<Item = Listener<'_>> {
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
