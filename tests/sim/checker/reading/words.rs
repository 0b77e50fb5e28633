//! Who does not want to meet whom, as far as that is certain, and whether anybody hears what they do not.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{BlockedPlayer, ChatEntry, ClientMessage, PlayerId};

use super::{ConnectionId, Kind, Reading, Waiting};

/// Who does not want to meet whom.
#[derive(Debug, Default)]
pub(in crate::checker) struct Words {
    /// Who certainly blocks whom, since when, in microseconds.
    blocks: BTreeMap<(PlayerId, PlayerId), u128>,
    /// Those of before: from when to when.
    past: Vec<((PlayerId, PlayerId), u128, u128)>,
    /// How often it was asked for that a block ends, and not answered.
    ending: BTreeMap<(PlayerId, PlayerId), usize>,
    /// The players who have had each name.
    names: BTreeMap<String, BTreeSet<PlayerId>>,
    heard: usize,
    blocked: usize,
}

impl Words {
    /// How often somebody heard something, and was told that they block somebody.
    pub(in crate::checker) const fn counts(&self) -> (usize, usize) {
        (self.heard, self.blocked)
    }

    pub(super) fn is_called(&mut self, player: PlayerId, name: &str) {
        self.names
            .entry(name.to_owned())
            .or_default()
            .insert(player);
    }

    /// Whether one of the two has certainly blocked the other since before this time, and does now.
    fn apart(&self, one: PlayerId, other: PlayerId, at_us: u128) -> bool {
        let pairs = [(one, other), (other, one)];
        let mut since = pairs.iter().filter_map(|pair| self.blocks.get(pair));
        since.any(|since| *since < at_us)
    }

    /// Whether one of the two certainly blocked the other at this time, and had for as long before.
    pub(in crate::checker) fn were_apart(
        &self,
        one: PlayerId,
        other: PlayerId,
        (at_us, before_us): (u128, u128),
    ) -> bool {
        let pairs = [(one, other), (other, one)];
        let lasts = |pair| {
            let since = self.blocks.get(pair);
            since.is_some_and(|since| since + before_us <= at_us)
        };
        let lasted = |past: &((PlayerId, PlayerId), u128, u128)| {
            pairs.contains(&past.0) && past.1 + before_us <= at_us && at_us < past.2
        };
        pairs.iter().any(lasts) || self.past.iter().any(lasted)
    }
}

impl Reading {
    /// A block that is to end is not certain from then on.
    pub(super) fn sent_block(&mut self, on: ConnectionId, message: &ClientMessage) {
        let (Some(pair), false) = (self.pair(on, message), is_on(message)) else {
            return;
        };
        let at_us = self.at_us;
        let words = &mut self.words;
        *words.ending.entry(pair).or_default() += 1;
        if let Some(since) = words.blocks.remove(&pair) {
            words.past.push((pair, since, at_us));
        }
    }

    pub(super) fn told_blocked(
        &mut self,
        on: ConnectionId,
        players: &[BlockedPlayer],
        waiting: Option<&Waiting>,
    ) {
        let Some(waiting) = waiting else { return };
        let Some(pair) = self.pair(on, &waiting.message) else {
            return;
        };
        let at_us = self.at_us;
        let is_listed = players.iter().any(|blocked| blocked.id == pair.1);
        let ending = self.words.ending.entry(pair).or_default();
        if !is_on(&waiting.message) {
            *ending -= 1;
        } else if *ending == 0 {
            self.words.blocked += 1;
            self.words.blocks.entry(pair).or_insert(at_us);
            if !is_listed {
                let about = format!("{on:?} blocks {pair:?}, and is told {players:?}");
                self.fault(Kind::BadAnswer, about);
            }
        }
    }

    /// Nobody hears whoever they certainly do not meet. Of several servers one may not know of it yet; and what
    /// comes may have been on its way for long, but not since before something was asked for that has been answered.
    pub(super) fn heard(
        &mut self,
        on: ConnectionId,
        said: &[ChatEntry],
        waiting: Option<&Waiting>,
    ) {
        let connection = self.connection(on);
        let sent_us = waiting.map_or(0, |waiting| waiting.sent_us);
        let told_us = connection.heard_us.max(sent_us);
        let Some(player) = connection.player else {
            return;
        };
        self.words.heard += said.len();
        if self.settled_us.is_some() {
            return;
        }
        for line in said {
            let by = self.words.names.get(&line.name);
            let is_blocked = by.is_some_and(|by| {
                !by.is_empty() && by.iter().all(|by| self.words.apart(player, *by, told_us))
            });
            if is_blocked {
                let about = format!("{player} hears {line:?}");
                self.fault(Kind::Met, about);
            }
        }
    }

    /// Who blocks whom by this request.
    fn pair(&mut self, on: ConnectionId, message: &ClientMessage) -> Option<(PlayerId, PlayerId)> {
        let ClientMessage::Block {
            player: Some(other),
            ..
        } = message
        else {
            return None;
        };
        let player = self.connection(on).player?;
        let mut all = self.words.names.values().flatten();
        let other = all.find(|id| id.to_string() == *other)?;
        Some((player, *other))
    }
}

const fn is_on(message: &ClientMessage) -> bool {
    !matches!(
        message,
        ClientMessage::Block {
            enabled: Some(false),
            ..
        }
    )
}
