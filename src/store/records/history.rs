//! Ended matches as they are found again: by their players, and by how they began.

use std::collections::BTreeMap;
use std::iter;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, EndedMatchSummary};
use plyhouse_protocol::{MatchId, MatchResult, PlayerId};

/// Which ended matches of a player are wanted.
#[derive(Clone, Copy, Debug)]
pub struct HistoryQuery {
    /// Who sat in them at the start.
    pub player: PlayerId,
    /// Who asks: others than its players find no match that is not public.
    pub viewer: PlayerId,
    /// Only those of this game, by its id.
    pub game: Option<&'static str>,
    /// Only those against this opponent.
    pub opponent: Option<Opponent>,
    /// Only those that came to this for the player.
    pub result: Option<MatchResult>,
    /// Only those that ended before this one.
    pub before: Option<MatchId>,
    /// At most so many.
    pub limit: usize,
}

impl HistoryQuery {
    /// All matches of a player, as that player sees them.
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

/// Against whom a match was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// This player.
    Player(PlayerId),
    /// A bot, of whatever level.
    Bot,
}

/// An ended match of a player.
#[derive(Clone, Debug)]
pub struct PastMatch {
    /// What was settled when it was created.
    pub creation: Creation,
    /// What it came to.
    pub summary: EndedMatchSummary,
    /// The player's seat.
    pub seat: Seat,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
}

/// What all of a player's matches came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    /// How many there are of each kind.
    pub counts: BTreeMap<MatchResult, u64>,
    /// When the first of them ended, in milliseconds since 1970.
    pub first_end_ms: Option<u64>,
}

impl ResultCounts {
    /// How many came to this.
    #[must_use]
    pub fn count(&self, result: MatchResult) -> u64 {
        self.counts.get(&result).copied().unwrap_or(0)
    }

    /// So many more that came to this, of which this was the first to end.
    pub(crate) fn add(&mut self, result: MatchResult, count: u64, end_ms: u64) {
        *self.counts.entry(result).or_default() += count;
        self.first_end_ms = Some(self.first_end_ms.unwrap_or(end_ms).min(end_ms));
    }
}

/// What matches came to that began alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there are.
    pub matches: u64,
    /// How many each seat has won.
    pub wins: [u64; 2],
    /// How many nobody has won.
    pub draws: u64,
}

impl Tally {
    /// One match.
    pub(crate) fn from_summary(summary: &EndedMatchSummary) -> Self {
        let wins = Seat::ALL.map(|seat| u64::from(summary.winner == Some(seat)));
        let draws = summary.result(Seat::First) == MatchResult::Drawn;
        Self {
            matches: 1,
            wins,
            draws: draws.into(),
        }
    }

    /// So many more.
    pub(crate) fn add(&mut self, other: Self) {
        self.matches += other.matches;
        self.draws += other.draws;
        for seat in Seat::ALL.map(Seat::index) {
            self.wins[seat] += other.wins[seat];
        }
    }

    /// So many fewer, which were counted.
    pub(crate) fn subtract(&mut self, other: Self) {
        self.matches -= other.matches;
        self.draws -= other.draws;
        for seat in Seat::ALL.map(Seat::index) {
            self.wins[seat] -= other.wins[seat];
        }
    }
}

/// How matches went on that began alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpeningStats {
    /// How many they are.
    pub matches: u64,
    /// What they came to by their next moves, in the order of these.
    pub moves: Vec<(String, Tally)>,
}

impl OpeningStats {
    /// What these tell, of which the one of the empty move stands for all.
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

/// Where a match counts that began so: at each move of its opening, after the line before it. The empty
/// move stands for all matches.
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

/// The step that leads to this line.
pub(crate) fn last_step(line: &str) -> (&str, &str) {
    line.rsplit_once(' ').unwrap_or(("", line))
}

/// Who sat in a seat, and what is looked up by it.
pub(crate) struct SeatResult {
    pub(crate) player: PlayerId,
    pub(crate) seat: Seat,
    /// The player across the board; none if it was a bot.
    pub(crate) opponent: Option<PlayerId>,
    pub(crate) result: MatchResult,
}

/// By whom a match is found again.
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

/// The text that is kept of what a match came to.
pub(crate) fn summary_to_text(summary: &EndedMatchSummary) -> String {
    serde_json::to_string(summary).expect("summaries are serializable")
}

/// What a match came to, by the text that is kept of it.
pub(crate) fn summary_from_text(text: &str) -> Result<EndedMatchSummary, String> {
    serde_json::from_str(text).map_err(|error| format!("its summary: {error}"))
}

/// The result of this word.
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
