//! Ended matches as they are found again, in memory.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{MatchId, MatchResult, PlayerId};

use super::Contents;
use super::kept::Kept;
use crate::history::{Played, last_step, played, steps};
use crate::{Explored, HistoryQuery, Opponent, PastMatch, Results, Tally};

/// How many matches came to each result, and when the first of them ended.
type Counts = BTreeMap<MatchResult, (u64, u64)>;

/// What ended matches are found by.
#[derive(Debug, Default)]
pub(super) struct HistoryIndex {
    /// The matches of each player, in the order in which they ended.
    played: BTreeMap<PlayerId, BTreeSet<(u64, MatchId)>>,
    /// How many of a player's matches came to what, and when the first of them ended, by who may know of them:
    /// nobody named for everybody.
    results: BTreeMap<(PlayerId, Option<PlayerId>), Counts>,
    /// What matches came to, by game, line and next move.
    openings: BTreeMap<&'static str, BTreeMap<String, BTreeMap<String, Tally>>>,
}

impl HistoryIndex {
    /// Files a match that has ended.
    pub(super) fn file(&mut self, kept: &Kept) {
        let (Some(archived), Some(ended_ms)) = (&kept.archived, kept.ended_ms()) else {
            return;
        };
        for played in played(archived) {
            let of_player = self.played.entry(played.player).or_default();
            of_player.insert((ended_ms, kept.id()));
            for seen_by in seen_by(kept, &played) {
                let results = self.results.entry((played.player, seen_by)).or_default();
                let (count, first_ms) = results.entry(played.result).or_insert((0, ended_ms));
                *count += 1;
                *first_ms = ended_ms.min(*first_ms);
            }
        }
        let openings = self.openings.entry(game(kept)).or_default();
        let tally = Tally::of(archived);
        for (line, m) in archived.opening.iter().flat_map(|opening| steps(opening)) {
            // Mostly matches have gone this way before, and no text is to be made.
            let known = openings.get_mut(line).and_then(|moves| moves.get_mut(m));
            if let Some(counted) = known {
                counted.add(tally);
                continue;
            }
            let moves = openings.entry(line.to_owned()).or_default();
            moves.entry(m.to_owned()).or_default().add(tally);
        }
    }

    /// Takes an ended match out again.
    pub(super) fn unfile(&mut self, kept: &Kept) {
        let (Some(archived), Some(ended_ms)) = (&kept.archived, kept.ended_ms()) else {
            return;
        };
        for played in played(archived) {
            if let Some(of_player) = self.played.get_mut(&played.player) {
                of_player.remove(&(ended_ms, kept.id()));
                if of_player.is_empty() {
                    self.played.remove(&played.player);
                }
            }
            for seen_by in seen_by(kept, &played) {
                self.result_gone((played.player, seen_by), played.result);
            }
        }
        let Some(openings) = self.openings.get_mut(game(kept)) else {
            return;
        };
        let tally = Tally::of(archived);
        for (line, m) in archived.opening.iter().flat_map(|opening| steps(opening)) {
            let Some(moves) = openings.get_mut(line) else {
                continue;
            };
            if let Some(counted) = moves.get_mut(m) {
                counted.subtract(tally);
                if counted.n == 0 {
                    moves.remove(m);
                }
            }
            if moves.is_empty() {
                openings.remove(line);
            }
        }
    }

    /// Counts one match less of those that came to this.
    fn result_gone(&mut self, key: (PlayerId, Option<PlayerId>), result: MatchResult) {
        let Some(results) = self.results.get_mut(&key) else {
            return;
        };
        if let Some((count, _)) = results.get_mut(&result) {
            *count -= 1;
        }
        results.retain(|_, (count, _)| *count > 0);
        if results.is_empty() {
            self.results.remove(&key);
        }
    }

    /// How matches of a game went on that began with this line.
    pub(super) fn explore(&self, game: &str, line: &str) -> Explored {
        let Some(openings) = self.openings.get(game) else {
            return Explored::default();
        };
        let (before, last) = last_step(line);
        let itself = openings.get(before).and_then(|moves| moves.get(last));
        let itself = itself.map(|tally| (String::new(), *tally));
        let moves = openings.get(line).into_iter().flatten();
        let moves = moves.filter(|(m, _)| !m.is_empty());
        let moves = moves.map(|(m, tally)| (m.clone(), *tally));
        Explored::of(itself.into_iter().chain(moves))
    }
}

impl Contents {
    /// See [`Store::history`](crate::Store::history).
    pub(super) fn history(&self, wanted: &HistoryQuery) -> Option<Vec<PastMatch>> {
        let before = match wanted.before {
            None => (u64::MAX, MatchId(uuid::Uuid::max())),
            Some(id) => (self.matches.get(&id)?.ended_ms()?, id),
        };
        let all = self.past.played.get(&wanted.player).into_iter();
        let all = all.flat_map(|all| all.range(..before).rev());
        let wanted_ones = all.filter_map(|(ended_ms, id)| {
            let kept = self.matches.get(id)?;
            let found = Self::found(kept, wanted.player, wanted.seen_by)?;
            let is_with = match wanted.with {
                None => true,
                Some(Opponent::Bot) => found.other.is_none(),
                Some(Opponent::Player(id)) => found.other == Some(id),
            };
            let fits = is_with
                && wanted.game.is_none_or(|wanted| wanted == game(kept))
                && wanted.result.is_none_or(|result| result == found.result);
            fits.then(|| PastMatch {
                creation: kept.record.creation.clone(),
                archived: kept
                    .archived
                    .as_deref()
                    .cloned()
                    .expect("it was found by it"),
                seat: found.seat,
                ended_ms: *ended_ms,
            })
        });
        Some(wanted_ones.take(wanted.limit).collect())
    }

    /// See [`Store::results`](crate::Store::results).
    pub(super) fn results(&self, player: PlayerId, seen_by: PlayerId) -> Results {
        let mut results = Results::default();
        for seen_by in [None, Some(seen_by)] {
            let counted = self.past.results.get(&(player, seen_by));
            for (result, (count, first_ms)) in counted.into_iter().flatten() {
                results.add(*result, *count, *first_ms);
            }
        }
        results
    }

    /// How a player played in an ended match, if this one may see it.
    fn found(kept: &Kept, player: PlayerId, seen_by: PlayerId) -> Option<Played> {
        let mut all = played(kept.archived.as_deref()?);
        let found = all.find(|played| played.player == player)?;
        let is_theirs = player == seen_by || found.other == Some(seen_by);
        (is_theirs || kept.record.creation.terms.is_public()).then_some(found)
    }
}

/// Who may know how somebody played in an ended match: nobody named for everybody.
fn seen_by(kept: &Kept, played: &Played) -> impl Iterator<Item = Option<PlayerId>> + use<> {
    let is_public = kept.record.creation.terms.is_public();
    let theirs = [Some(played.player), played.other].into_iter().flatten();
    let theirs = theirs.filter(move |_| !is_public).map(Some);
    is_public.then_some(None).into_iter().chain(theirs)
}

const fn game(kept: &Kept) -> &'static str {
    kept.record.creation.game.info.id
}
