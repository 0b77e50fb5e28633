//! In-memory index of ended matches.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{MatchId, MatchResult, PlayerId};

use super::Contents;
use super::stored_match::StoredMatch;
use crate::records::past_matches::{SeatResult, last_step, opening_steps, seat_results};
use crate::{HistoryQuery, OpeningStats, Opponent, PastMatch, ResultCounts, Tally};

/// Maps each match result to a count and a time. The count is the number of matches that ended with
/// this result. The time is the end of the first of these matches, as Unix time in milliseconds.
type CountsByResult = BTreeMap<MatchResult, (u64, u64)>;

/// Index of ended matches.
#[derive(Debug, Default)]
pub(super) struct HistoryIndex {
    /// Ended matches of each player, ordered by the time at which the matches ended.
    matches_of_player: BTreeMap<PlayerId, BTreeSet<(u64, MatchId)>>,
    /// Result counts of each player, with separate counts for public and private matches. The key
    /// `(player, None)` counts the public matches. The key `(player, Some(viewer))` counts the
    /// private matches that the viewer may see.
    results: BTreeMap<(PlayerId, Option<PlayerId>), CountsByResult>,
    /// Win and draw counts of the matches, by game, opening line and next move.
    openings: BTreeMap<&'static str, BTreeMap<String, BTreeMap<String, Tally>>>,
}

impl HistoryIndex {
    /// Adds an ended match to the index.
    pub(super) fn add(&mut self, stored: &StoredMatch) {
        let (Some(summary), Some(ended_ms)) = (&stored.summary, stored.ended_ms()) else {
            return;
        };
        for seat_result in seat_results(summary) {
            let SeatResult { player, result, .. } = seat_result;
            let matches = self.matches_of_player.entry(player).or_default();
            matches.insert((ended_ms, stored.id()));
            for viewer in viewers(stored, &seat_result) {
                let results = self.results.entry((player, viewer)).or_default();
                let (count, first_ms) = results.entry(result).or_insert((0, ended_ms));
                *count += 1;
                *first_ms = ended_ms.min(*first_ms);
            }
        }
        let openings = self.openings.entry(game_id(stored)).or_default();
        let tally = Tally::from_summary(summary);
        for (line, m) in summary
            .opening
            .as_deref()
            .into_iter()
            .flat_map(opening_steps)
        {
            // If the opening line is already stored, as for most matches, the code updates its
            // tally without allocating strings.
            let existing = openings.get_mut(line).and_then(|moves| moves.get_mut(m));
            if let Some(tally_of_move) = existing {
                tally_of_move.add(tally);
                continue;
            }
            let moves = openings.entry(line.to_owned()).or_default();
            moves.entry(m.to_owned()).or_default().add(tally);
        }
    }

    /// Removes an ended match from the index.
    pub(super) fn remove(&mut self, stored: &StoredMatch) {
        let (Some(summary), Some(ended_ms)) = (&stored.summary, stored.ended_ms()) else {
            return;
        };
        for seat_result in seat_results(summary) {
            let SeatResult { player, result, .. } = seat_result;
            if let Some(matches) = self.matches_of_player.get_mut(&player) {
                matches.remove(&(ended_ms, stored.id()));
                if matches.is_empty() {
                    self.matches_of_player.remove(&player);
                }
            }
            for viewer in viewers(stored, &seat_result) {
                self.subtract_result((player, viewer), result);
            }
        }
        let Some(openings) = self.openings.get_mut(game_id(stored)) else {
            return;
        };
        let tally = Tally::from_summary(summary);
        for (line, m) in summary
            .opening
            .as_deref()
            .into_iter()
            .flat_map(opening_steps)
        {
            let Some(moves) = openings.get_mut(line) else {
                continue;
            };
            if let Some(tally_of_move) = moves.get_mut(m) {
                tally_of_move.subtract(tally);
                if tally_of_move.matches == 0 {
                    moves.remove(m);
                }
            }
            if moves.is_empty() {
                openings.remove(line);
            }
        }
    }

    /// Decrements the number of matches that ended with the given result. Does not update the time
    /// at which the first counted match ended.
    fn subtract_result(&mut self, key: (PlayerId, Option<PlayerId>), result: MatchResult) {
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

    /// Returns statistics of the moves that were played after an opening line of a game.
    pub(super) fn explore(&self, game: &str, line: &str) -> OpeningStats {
        let Some(openings) = self.openings.get(game) else {
            return OpeningStats::default();
        };
        let (prefix, last_move) = last_step(line);
        let line_tally = openings.get(prefix).and_then(|moves| moves.get(last_move));
        let line_tally = line_tally.map(|tally| (String::new(), *tally));
        let moves = openings.get(line).into_iter().flatten();
        let moves = moves.filter(|(m, _)| !m.is_empty());
        let moves = moves.map(|(m, tally)| (m.clone(), *tally));
        OpeningStats::from_tallies(line_tally.into_iter().chain(moves))
    }
}

impl Contents {
    /// See [`ArchiveStore::history`](crate::ArchiveStore::history).
    pub(super) fn history(&self, query: &HistoryQuery) -> Option<Vec<PastMatch>> {
        let before = match query.before {
            None => (u64::MAX, MatchId(uuid::Uuid::max())),
            Some(id) => (self.matches.get(&id)?.ended_ms()?, id),
        };
        let ended = self.history_index.matches_of_player.get(&query.player);
        let matches = ended.into_iter().flat_map(|all| all.range(..before).rev());
        let matching = matches.filter_map(|(ended_ms, id)| {
            let stored = self.matches.get(id)?;
            let seat_result = Self::visible_seat_result(stored, query.player, query.viewer)?;
            let has_opponent = match query.opponent {
                None => true,
                Some(Opponent::Bot) => seat_result.opponent.is_none(),
                Some(Opponent::Player(id)) => seat_result.opponent == Some(id),
            };
            let SeatResult { seat, result, .. } = seat_result;
            let is_match = has_opponent
                && query.game.is_none_or(|game| game == game_id(stored))
                && query.result.is_none_or(|searched| searched == result);
            let summary = stored.summary.as_deref();
            is_match.then(|| PastMatch {
                creation: stored.record.creation.clone(),
                summary: summary.cloned().expect("an indexed match has a summary"),
                seat,
                ended_ms: *ended_ms,
            })
        });
        Some(matching.take(query.limit).collect())
    }

    /// See [`ArchiveStore::results`](crate::ArchiveStore::results).
    pub(super) fn results(&self, player: PlayerId, viewer: PlayerId) -> ResultCounts {
        let mut results = ResultCounts::default();
        for visible_to in [None, Some(viewer)] {
            let counts = self.history_index.results.get(&(player, visible_to));
            for (result, (count, first_ms)) in counts.into_iter().flatten() {
                results.add(*result, *count, *first_ms);
            }
        }
        results
    }

    /// Returns the player's result in an ended match if `viewer` may see the match.
    fn visible_seat_result(
        stored: &StoredMatch,
        player: PlayerId,
        viewer: PlayerId,
    ) -> Option<SeatResult> {
        let mut results = seat_results(stored.summary.as_deref()?);
        let seat_result = results.find(|result| result.player == player)?;
        let is_participant = player == viewer || seat_result.opponent == Some(viewer);
        (is_participant || stored.record.creation.terms.is_public()).then_some(seat_result)
    }
}

/// Returns the viewer keys that the index uses to count a match result. A public match is counted
/// once under `None`. A private match is counted under each of its players.
fn viewers(
    stored: &StoredMatch,
    seat_result: &SeatResult,
) -> impl Iterator<Item = Option<PlayerId>> + use<> {
    let is_public = stored.record.creation.terms.is_public();
    let participants = [Some(seat_result.player), seat_result.opponent];
    let participants = participants.into_iter().filter(Option::is_some);
    let participants = participants.filter(move |_| !is_public);
    is_public.then_some(None).into_iter().chain(participants)
}

const fn game_id(stored: &StoredMatch) -> &'static str {
    stored.record.creation.game.info.id
}
