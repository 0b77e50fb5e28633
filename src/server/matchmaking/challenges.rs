//! Index of open challenges.
//!
//! A challenge is a match that waits for one invited player. The match itself holds the
//! authoritative state of the challenge, and the index holds a copy. The index finds challenges by
//! invited player and limits the number of challenges per player.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::limit_reached::LimitReached;
use crate::context::locks::{CHALLENGES, Mutex};
use crate::players::registry::PlayerRegistry;
use crate::wire::encode::encode;
use crate::wire::to_protocol;
use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{Challenge, EndDetail, MatchId, PlayerId, ServerMessage};

/// Maximum number of open challenges made by one player.
const SENT_MAX: usize = 20;

/// Maximum number of open challenges that one player may have received.
const RECEIVED_MAX: usize = 50;

/// All open challenges, and the reservations for challenges whose match is being created.
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    index: Mutex<Index, CHALLENGES>,
}

#[derive(Debug, Default)]
struct Index {
    challenges: BTreeMap<MatchId, Entry>,
    by_challenger: BTreeMap<PlayerId, BTreeSet<MatchId>>,
    by_invited: BTreeMap<PlayerId, BTreeSet<MatchId>>,
}

#[derive(Debug)]
struct Entry {
    challenger: PlayerId,
    invited: PlayerId,
    /// Copy of the open challenge, or `None` while the match of the challenge is being created.
    challenge: Option<Challenge>,
}

impl Challenges {
    /// Adds the challenge of an open match and sends it to the invited player. Does nothing if the
    /// match is not an open challenge.
    pub(crate) fn announce(&self, players: &PlayerRegistry, state: &Match) {
        let Some((invited, challenge)) = to_protocol::challenge(state) else {
            return;
        };
        self.insert(invited, challenge.clone());
        let challenge = ServerMessage::Challenge(Box::new(challenge));
        send_to_player(players, invited, challenge);
    }

    /// Removes the challenge of a match that is no longer open. Must be called when a player takes
    /// a seat or the match ends.
    ///
    /// The invited player receives [`ServerMessage::ChallengeEnded`], unless the player accepted or
    /// declined the challenge.
    pub(crate) fn on_match_changed(&self, players: &PlayerRegistry, state: &Match) {
        let Some(invited) = state.creation().terms.invited else {
            return;
        };
        let declined = Some(EndDetail::Declined);
        let is_own_action = match state.stage() {
            Stage::Open => return,
            Stage::Running => state.seat_of(invited).is_some(),
            Stage::Ended { detail, .. } => detail == declined,
        };
        let match_id = state.id();
        if self.remove(match_id).is_some() && !is_own_action {
            send_to_player(players, invited, ServerMessage::ChallengeEnded { match_id });
        }
    }

    /// Reserves a place for a challenge while its match is being created. The reservation counts
    /// towards the limits of both players.
    pub(crate) fn reserve(
        &self,
        id: MatchId,
        from: PlayerId,
        to: PlayerId,
    ) -> Result<(), LimitReached> {
        let mut index = self.index.lock();
        let count = |of: &BTreeMap<_, BTreeSet<_>>, who| of.get(&who).map_or(0, BTreeSet::len);
        if count(&index.by_challenger, from) >= SENT_MAX
            || count(&index.by_invited, to) >= RECEIVED_MAX
        {
            return Err(LimitReached::Challenges);
        }
        index.add(id, from, to);
        Ok(())
    }

    /// Stores the challenge of an open match in the index. If the index holds no reservation for
    /// the match, the challenge is added even if a limit on challenges is exceeded.
    pub(crate) fn insert(&self, to: PlayerId, challenge: Challenge) {
        let mut index = self.index.lock();
        let id = challenge.match_id;
        index.add(id, challenge.challenger.player, to);
        if let Some(entry) = index.challenges.get_mut(&id) {
            entry.challenge = Some(challenge);
        }
    }

    /// Removes a challenge or a reservation. Returns the invited player, or `None` if the index
    /// contained no open challenge with this match id.
    pub(crate) fn remove(&self, id: MatchId) -> Option<PlayerId> {
        let mut index = self.index.lock();
        let entry = index.challenges.remove(&id)?;
        remove(&mut index.by_challenger, entry.challenger, id);
        remove(&mut index.by_invited, entry.invited, id);
        entry.challenge.map(|_| entry.invited)
    }

    /// Returns the challenges that this player has received, oldest first.
    pub(crate) fn received_by(&self, player: PlayerId) -> Vec<Challenge> {
        let index = self.index.lock();
        let ids = index.by_invited.get(&player).into_iter().flatten();
        ids.filter_map(|id| index.challenges.get(id)?.challenge.clone())
            .collect()
    }

    /// Returns the number of open challenges and reservations.
    pub(crate) fn len(&self) -> usize {
        self.index.lock().challenges.len()
    }
}

fn send_to_player(players: &PlayerRegistry, player: PlayerId, message: ServerMessage) {
    let message = encode(&message);
    for connection in players.connections(player) {
        connection.outbox.send(message.clone());
    }
}

impl Index {
    fn add(&mut self, id: MatchId, from: PlayerId, to: PlayerId) {
        self.by_challenger.entry(from).or_default().insert(id);
        self.by_invited.entry(to).or_default().insert(id);
        self.challenges.entry(id).or_insert(Entry {
            challenger: from,
            invited: to,
            challenge: None,
        });
    }
}

fn remove(
    matches_by_player: &mut BTreeMap<PlayerId, BTreeSet<MatchId>>,
    player: PlayerId,
    id: MatchId,
) {
    if let Some(ids) = matches_by_player.get_mut(&player) {
        ids.remove(&id);
        if ids.is_empty() {
            matches_by_player.remove(&player);
        }
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_protocol::{NamedPlayer, SeatNumber};
    use uuid::Uuid;

    use super::*;

    const ANN: PlayerId = PlayerId(Uuid::from_u128(1));
    const BOB: PlayerId = PlayerId(Uuid::from_u128(2));

    fn challenge(id: MatchId, from: PlayerId) -> Challenge {
        Challenge {
            match_id: id,
            code: "K7QM2P".to_owned(),
            game: "chess".to_owned(),
            clock: None,
            rated: false,
            from_position: false,
            seat: SeatNumber(1),
            challenger: NamedPlayer {
                player: from,
                name: "ann".to_owned(),
            },
        }
    }

    fn match_id(n: usize) -> MatchId {
        MatchId(Uuid::from_u128(n as u128))
    }

    #[test]
    fn challenge_is_listed_for_invited_player_until_removed() {
        let challenges = Challenges::default();
        challenges.reserve(match_id(1), ANN, BOB).unwrap();
        assert_eq!(
            challenges.received_by(BOB),
            [],
            "the match is not there yet"
        );
        challenges.insert(BOB, challenge(match_id(1), ANN));
        assert_eq!(challenges.received_by(BOB), [challenge(match_id(1), ANN)]);
        assert_eq!(challenges.received_by(ANN), []);
        assert_eq!(challenges.remove(match_id(1)), Some(BOB));
        assert_eq!(challenges.remove(match_id(1)), None);
        assert_eq!((challenges.received_by(BOB), challenges.len()), (vec![], 0));
        // The index holds only a reservation for this match, so `Challenges::remove` returns no
        // invited player.
        challenges.reserve(match_id(2), ANN, BOB).unwrap();
        assert_eq!(challenges.remove(match_id(2)), None);
        assert!(challenges.index.lock().by_challenger.is_empty());
    }

    #[test]
    fn challenges_are_limited_per_challenger_and_per_invited_player() {
        let challenges = Challenges::default();
        let other_player = |n: usize| PlayerId(Uuid::from_u128(100 + n as u128));
        for n in 0..20 {
            challenges
                .reserve(match_id(n), ANN, other_player(n))
                .unwrap();
        }
        let refused = challenges.reserve(match_id(20), ANN, BOB);
        assert_eq!(refused, Err(LimitReached::Challenges));
        challenges.remove(match_id(0));
        challenges.reserve(match_id(20), ANN, BOB).unwrap();
        for n in 21..70 {
            challenges
                .reserve(match_id(n), other_player(n), BOB)
                .unwrap();
        }
        let refused = challenges.reserve(match_id(70), other_player(0), BOB);
        assert_eq!(refused, Err(LimitReached::Challenges));
    }
}
