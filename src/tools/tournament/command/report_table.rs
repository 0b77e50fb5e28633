//! Text tables of a tournament report.

use std::fmt;

use super::tournament_report::{EloInterval, PairRow, PlayerRow, TournamentReport};

impl fmt::Display for TournamentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            game,
            games_per_pair: games,
            opening_plies: plies,
            seed,
            ..
        } = self;
        let openings = match games / 2 {
            1 => "1 opening".to_owned(),
            count => format!("{count} openings"),
        };
        let plies = match plies {
            1 => "1 ply".to_owned(),
            count => format!("{count} plies"),
        };
        write!(
            f,
            "{game}: {games} games per pair from {openings} of {plies}"
        )?;
        if let Some(nodes) = self.nodes {
            write!(f, ", at most {nodes} nodes per move")?;
        }
        writeln!(f, ", seed {seed}\n")?;

        writeln!(
            f,
            "{:<10}{:>7}  {:<16}{:>7}  {:<16}{:>7}{:>8}",
            "player", "Elo", "95% interval", "step", "95% interval", "score", "games"
        )?;
        self.players.iter().try_for_each(|row| row.fmt(f))?;

        writeln!(
            f,
            "\n{:<22}{:>7}{:>7}{:>7}{:>8}{:>8}{:>8}  {:<16}{:>6}",
            "pair", "games", "wins", "draws", "losses", "score", "Elo", "95% interval", "LOS"
        )?;
        self.pairs.iter().try_for_each(|row| row.fmt(f))
    }
}

impl fmt::Display for PlayerRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            player,
            rating,
            gap_to_next: step,
            score,
            games,
        } = self;
        let (elo, score) = (rating.elo, format_percent(*score));
        match step {
            Some(step) => writeln!(
                f,
                "{player:<10}{elo:>7.0}  {:<16}{:>+7.0}  {:<16}{score:>7}{games:>8}",
                format_interval(rating),
                step.elo,
                format_interval(step)
            ),
            // The last row is the random player. The rating of this player is 0 by definition, so
            // it has no interval.
            None => writeln!(f, "{player:<10}{elo:>7.0}{:43}{score:>7}{games:>8}", ""),
        }
    }
}

impl fmt::Display for PairRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            player,
            opponent,
            games,
            wins,
            draws,
            losses,
            difference,
            ..
        } = self;
        writeln!(
            f,
            "{:<22}{games:>7}{wins:>7}{draws:>7}{losses:>8}{:>8}{:>+8.0}  {:<16}{:>6}",
            format!("{player} - {opponent}"),
            format_percent(self.score),
            difference.elo,
            format_interval(difference),
            format_percent(self.superiority),
        )
    }
}

fn format_percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn format_interval(EloInterval { low, high, .. }: &EloInterval) -> String {
    format!("{low:+.0} to {high:+.0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn elo(elo: f64, low: f64, high: f64) -> EloInterval {
        EloInterval { elo, low, high }
    }

    #[test]
    fn table_columns_are_aligned() {
        let player = |player: &str, rating, step, score| PlayerRow {
            player: player.to_owned(),
            rating,
            gap_to_next: step,
            score,
            games: 2000,
        };
        let report = TournamentReport {
            game: "some-game",
            levels_version: 1,
            games_per_pair: 400,
            opening_plies: 4,
            nodes: Some(5000),
            seed: 7,
            players: vec![
                player(
                    "beginner",
                    elo(-12.4, -1012.5, 1005.6),
                    Some(elo(-12.4, -40.0, 9.9)),
                    1.0,
                ),
                player("random", elo(0.0, 0.0, 0.0), None, 0.005),
            ],
            pairs: vec![PairRow {
                player: "beginner".to_owned(),
                opponent: "random".to_owned(),
                games: 400,
                wins: 100,
                draws: 50,
                losses: 250,
                score: 0.3125,
                difference: elo(-137.0, -170.2, -103.7),
                superiority: 0.0,
            }],
        };
        let expected = "\
some-game: 400 games per pair from 200 openings of 4 plies, at most 5000 nodes per move, seed 7

player        Elo  95% interval       step  95% interval      score   games
beginner      -12  -1012 to +1006      -12  -40 to +10       100.0%    2000
random          0                                              0.5%    2000

pair                    games   wins  draws  losses   score     Elo  95% interval       LOS
beginner - random         400    100     50     250   31.2%    -137  -170 to -104      0.0%
";
        assert_eq!(report.to_string(), expected);
    }
}
