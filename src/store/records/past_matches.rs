//! Records of ended matches: the history of a player, and the opening statistics.

use std::collections::BTreeMap;
use std::iter;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, EndedMatchSummary};
use plyhouse_protocol::{MatchId, MatchResult, PlayerId};

/// Query for the ended matches of a player.
#[derive(Clone, Copy, Debug)]
pub struct HistoryQuery {
    /// Player whose matches are returned.
    pub player: PlayerId,
    /// Player who makes the query. Matches that are not public are only returned to their players.
    pub viewer: PlayerId,
    /// Id of the only game to include. `None` includes all games.
    pub game: Option<&'static str>,
    /// The only opponent to include. `None` includes all opponents.
    pub opponent: Option<Opponent>,
    /// The only result to include, as seen by `player`. `None` includes all results.
    pub result: Option<MatchResult>,
    /// Only matches that ended before this match are returned. `None` starts the query at the match
    /// that ended last.
    pub before: Option<MatchId>,
    /// Maximum number of matches to return.
    pub limit: usize,
}

impl HistoryQuery {
    /// Creates a query for all ended matches of a player, with the player as the viewer. The query
    /// returns at most `limit` matches.
    #[must_use]
    pub const fn for_player(player: PlayerId, limit: usize) -> Self {
        Self {
            player,
            viewer: player,
            game: None,
            opponent: None,
            result: None,
            before: None,
            limit,
        }
    }
}

/// Opponent of a player in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// A player.
    Player(PlayerId),
    /// Any bot, regardless of its level.
    Bot,
}

/// Ended match of a player.
#[derive(Clone, Debug)]
pub struct PastMatch {
    /// Creation data of the match.
    pub creation: Creation,
    /// Summary of the match.
    pub summary: EndedMatchSummary,
    /// Seat of the player.
    pub seat: Seat,
    /// Time at which the match ended, as Unix time in milliseconds.
    pub ended_ms: u64,
}

/// Results of a player's ended matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    /// Number of matches with each result.
    pub counts: BTreeMap<MatchResult, u64>,
    /// Time at which the first of the matches ended, as Unix time in milliseconds.
    pub first_end_ms: Option<u64>,
}

impl ResultCounts {
    /// Returns the number of matches with this result.
    #[must_use]
    pub fn count(&self, result: MatchResult) -> u64 {
        self.counts.get(&result).copied().unwrap_or(0)
    }

    /// Adds `count` matches with this result. `end_ms` must be the time at which the first of the
    /// added matches ended.
    pub(crate) fn add(&mut self, result: MatchResult, count: u64, end_ms: u64) {
        *self.counts.entry(result).or_default() += count;
        self.first_end_ms = Some(self.first_end_ms.unwrap_or(end_ms).min(end_ms));
    }
}

/// Results of matches with the same opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of matches.
    pub matches: u64,
    /// Number of matches that each seat won.
    pub wins: [u64; 2],
    /// Number of draws.
    pub draws: u64,
}

impl Tally {
    /// Creates a tally that counts only the given match.
    pub(crate) fn from_summary(summary: &EndedMatchSummary) -> Self {
        let wins = Seat::ALL.map(|seat| u64::from(summary.winner == Some(seat)));
        let draws = summary.result(Seat::First) == MatchResult::Drawn;
        Self {
            matches: 1,
            wins,
            draws: draws.into(),
        }
    }

    /// Adds the matches of another tally.
    pub(crate) fn add(&mut self, other: Self) {
        self.matches += other.matches;
        self.draws += other.draws;
        for seat in Seat::ALL.map(Seat::index) {
            self.wins[seat] += other.wins[seat];
        }
    }

    /// Removes the matches of another tally, which must have been added before.
    pub(crate) fn subtract(&mut self, other: Self) {
        self.matches -= other.matches;
        self.draws -= other.draws;
        for seat in Seat::ALL.map(Seat::index) {
            self.wins[seat] -= other.wins[seat];
        }
    }
}

/// Statistics of the matches with the same opening line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpeningStats {
    /// Number of matches with this line.
    pub matches: u64,
    /// Results for each next move, sorted by move.
    pub moves: Vec<(String, Tally)>,
}

impl OpeningStats {
    /// Builds the statistics from pairs of a next move and its tally. The pair with an empty move
    /// contains the tally of all matches.
    pub(crate) fn from_tallies(tallies: impl IntoIterator<Item = (String, Tally)>) -> Self {
        let mut stats = Self::default();
        for (m, tally) in tallies {
            if m.is_empty() {
                stats.matches = tally.matches;
            } else {
                stats.moves.push((m, tally));
            }
        }
        stats.moves.sort_by(|one, other| one.0.cmp(&other.0));
        stats
    }
}

/// Returns the keys under which the opening statistics count a match that has this opening. Each
/// key consists of an opening line and the next move. The first key has an empty line and an empty
/// move, and all matches are counted under it.
pub(crate) fn opening_steps(opening: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut start = 0;
    let moves = opening.split(' ').filter(|m| !m.is_empty());
    let steps = moves.map(move |m| {
        let line = &opening[..start.max(1) - 1];
        start += m.len() + 1;
        (line, m)
    });
    iter::once(("", "")).chain(steps)
}

/// Splits an opening line into the part before its last move and the last move.
pub(crate) fn last_step(line: &str) -> (&str, &str) {
    line.rsplit_once(' ').unwrap_or(("", line))
}

/// Result of an ended match for the player in one of the seats. The history index stores these
/// results.
pub(crate) struct SeatResult {
    pub(crate) player: PlayerId,
    pub(crate) seat: Seat,
    /// Player in the other seat. `None` if the opponent is a bot.
    pub(crate) opponent: Option<PlayerId>,
    pub(crate) result: MatchResult,
}

/// Returns the results of the seats that were held by players, not by bots.
pub(crate) fn seat_results(summary: &EndedMatchSummary) -> impl Iterator<Item = SeatResult> {
    Seat::ALL.into_iter().filter_map(|seat| {
        Some(SeatResult {
            player: summary.seats[seat.index()].player()?,
            seat,
            opponent: summary.seats[seat.other().index()].player(),
            result: summary.result(seat),
        })
    })
}

/// Parses a stored summary. Returns an error message if the summary is not valid.
pub(crate) fn summary_from_text(text: &str) -> Result<EndedMatchSummary, String> {
    serde_json::from_str(text).map_err(|error| format!("invalid match summary: {error}"))
}

/// Parses the name of a result.
pub(crate) fn result_from_text(text: &str) -> Option<MatchResult> {
    let mut results = MatchResult::ALL.iter().copied();
    results.find(|result| result.as_str() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_is_counted_at_each_of_its_moves() {
        let collect_steps = |opening| opening_steps(opening).collect::<Vec<_>>();
        assert_eq!(collect_steps(""), [("", "")]);
        let expected = [("", ""), ("", "a1"), ("a1", "b2"), ("a1 b2", "c10")];
        assert_eq!(collect_steps("a1 b2 c10"), expected);
        for (line, m) in &expected[2..] {
            assert_eq!(last_step(&format!("{line} {m}")), (*line, *m));
        }
        assert_eq!((last_step("a1"), last_step("")), (("", "a1"), ("", "")));
    }
}
