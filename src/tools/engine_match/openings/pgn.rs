//! Splits a file in Portable Game Notation (PGN), or in its draughts variant (PDN), into games with
//! tags and movetext.

use anyhow::{Context, bail, ensure};
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::game::RecordFormat;

/// Game of a PGN or PDN file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PgnGame {
    /// Position before the first move, or `None` if the moves begin at the start of the game.
    pub(crate) fen: Option<String>,
    /// Moves, move numbers, comments, variations and the result of the game.
    pub(crate) movetext: String,
}

/// Tags and movetext of the game that is being parsed.
#[derive(Debug, Default)]
struct GameBuilder {
    tags: Vec<(String, String)>,
    movetext: String,
}

/// Returns whether `text` is PGN or PDN rather than a list of openings. In PGN and PDN, the first
/// line that is not a comment begins with a tag.
pub(crate) fn is_pgn(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', '%', ';']));
    first.is_some_and(|line| line.starts_with('['))
}

/// Splits a file into its games, in order.
///
/// # Errors
///
/// Returns an error if a tag is invalid or if a game belongs to another variant. The error contains
/// the number of the game.
pub(crate) fn split_games(text: &str, game: &GameEntry) -> anyhow::Result<Vec<PgnGame>> {
    let (mut games, mut builder) = (Vec::new(), GameBuilder::default());
    let finish = |builder: GameBuilder, games: &mut Vec<PgnGame>| {
        let number = games.len() + 1;
        games.push(
            builder
                .build(game)
                .with_context(|| format!("game {number}"))?,
        );
        anyhow::Ok(())
    };
    let mut brackets = BracketState::default();
    for line in text.lines().filter(|line| !line.starts_with('%')) {
        let is_tag = brackets.are_closed() && line.trim_start().starts_with('[');
        // All lines before the first tag are comments.
        if !is_tag && builder.tags.is_empty() {
            continue;
        }
        if is_tag && !builder.movetext.trim_ascii().is_empty() {
            finish(std::mem::take(&mut builder), &mut games)?;
        }
        let number = games.len() + 1;
        let movetext = match is_tag {
            true => (builder.parse_tags(line)).with_context(|| format!("game {number}"))?,
            false => line,
        };
        brackets.track_line(movetext);
        builder.movetext.push_str(movetext);
        builder.movetext.push('\n');
    }
    if !builder.tags.is_empty() {
        finish(builder, &mut games)?;
    }
    Ok(games)
}

impl GameBuilder {
    /// Parses the tags at the beginning of a line and returns the rest of the line.
    fn parse_tags<'t>(&mut self, line: &'t str) -> anyhow::Result<&'t str> {
        let mut rest = line.trim_start();
        while let Some(tag) = rest.strip_prefix('[') {
            let (pair, others) = parse_tag(tag).with_context(|| format!("invalid tag: {line}"))?;
            self.tags.push(pair);
            rest = others.trim_start();
        }
        Ok(rest)
    }

    fn find_tag(&self, name: &str) -> Option<&str> {
        let has_name = |(other, _): &&(String, String)| other.eq_ignore_ascii_case(name);
        let (_, value) = self.tags.iter().find(has_name)?;
        Some(value.trim())
    }

    fn build(self, game: &GameEntry) -> anyhow::Result<PgnGame> {
        match game.record_format {
            Some(RecordFormat::Pgn) => self.check_variant()?,
            Some(RecordFormat::Pdn { game_type }) => self.check_game_type(game_type)?,
            Some(RecordFormat::Sgf { .. } | RecordFormat::Txt) | None => {}
        }
        let uses_fen_tag = self.find_tag("SetUp") != Some("0");
        let fen = self
            .find_tag("FEN")
            .filter(|fen| uses_fen_tag && !fen.is_empty());
        Ok(PgnGame {
            fen: fen.map(str::to_owned),
            movetext: self.movetext,
        })
    }

    /// Rejects games of chess variants. A game of standard chess from another start position is not
    /// a variant.
    fn check_variant(&self) -> anyhow::Result<()> {
        let accepted = ["", "?", "chess", "standard", "normal", "from position"];
        if let Some(variant) = self.find_tag("Variant") {
            let variant = variant.to_ascii_lowercase();
            ensure!(
                accepted.contains(&variant.as_str()),
                "unsupported variant '{variant}'"
            );
        }
        Ok(())
    }

    /// Rejects games of other kinds of draughts. In the tag `GameType`, each kind of draughts has
    /// its own number. The board size and further fields may follow the number.
    fn check_game_type(&self, expected: &str) -> anyhow::Result<()> {
        let Some(game_type) = self.find_tag("GameType") else {
            return Ok(());
        };
        let number = game_type.split(',').next().unwrap_or_default().trim();
        if !["", "?", expected].contains(&number) {
            bail!("unsupported GameType {number}: expected {expected}");
        }
        Ok(())
    }
}

/// Parses a tag after its opening bracket. Returns the name and value of the tag, and the text
/// after the tag.
fn parse_tag(text: &str) -> Option<((String, String), &str)> {
    let (name, rest) = text.split_once('"')?;
    let mut value = String::new();
    let mut chars = rest.char_indices();
    loop {
        match chars.next()? {
            (_, '\\') => value.push(chars.next()?.1),
            (at, '"') => {
                let rest = rest[at + 1..].trim_start().strip_prefix(']')?;
                return Some(((name.trim().to_owned(), value), rest));
            }
            (_, letter) => value.push(letter),
        }
    }
}

/// Comments and variations that have not ended by the end of a line. A line inside a comment or
/// variation can begin with a bracket that is not a tag, such as `[%clk 0:03:00]`.
#[derive(Debug, Default)]
struct BracketState {
    is_in_comment: bool,
    variation_depth: usize,
}

impl BracketState {
    const fn are_closed(&self) -> bool {
        !self.is_in_comment && self.variation_depth == 0
    }

    fn track_line(&mut self, line: &str) {
        for byte in line.bytes() {
            match byte {
                b'}' => self.is_in_comment = false,
                _ if self.is_in_comment => {}
                b'{' => self.is_in_comment = true,
                b';' => return,
                b'(' => self.variation_depth += 1,
                b')' => self.variation_depth = self.variation_depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::catalog::find_game;

    use super::*;

    fn split_chess_games(text: &str) -> anyhow::Result<Vec<PgnGame>> {
        split_games(
            text,
            find_game("chess").expect("the game is in the catalog"),
        )
    }

    #[test]
    fn files_are_split_into_games() {
        let text = "; made by hand\n[Event \"a \\\"b\\\" [c]\"] [Round \"1\"]\n\n1. d4 {[%clk\n\
            [%eval 0.1] } d5\n(1... f5\n[no tag]) 2. c4 *\n\n\n[Event \"?\"]\n\
            %[Event \"escaped\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n[SetUp \"1\"]\n\n\
            [FEN \"other\"]\n1. O-O 1-0\n[Event \"c\"] 1. e4 ; {\n[Event \"d\"]\n";
        let games = split_chess_games(text).expect("PGN");
        let moves: Vec<Vec<&str>> = games
            .iter()
            .map(|game| game.movetext.split_whitespace().collect())
            .collect();
        assert_eq!(moves.len(), 4, "{games:?}");
        assert_eq!(moves[0].last(), Some(&"*"));
        assert!(moves[0].contains(&"tag])"));
        assert_eq!(moves[1], ["1.", "O-O", "1-0"]);
        assert_eq!(moves[2], ["1.", "e4", ";", "{"]);
        assert_eq!(moves[3], [""; 0]);
        let fens: Vec<Option<&str>> = games.iter().map(|game| game.fen.as_deref()).collect();
        assert_eq!(
            fens,
            [None, Some("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), None, None]
        );
    }

    #[test]
    fn fen_tag_is_ignored_when_empty_or_setup_is_zero() {
        let fen = |tags: &str| split_chess_games(tags).expect("PGN")[0].fen.clone();
        assert_eq!(fen("[FEN \"x\"]\n[SetUp \"0\"]\n1. e4"), None);
        assert_eq!(fen("[fen \"\"]\n1. e4"), None);
        assert_eq!(fen("[Setup \"1\"][FEN \" x \"]"), Some("x".to_owned()));
    }

    #[test]
    fn other_variants_and_unreadable_tags_are_refused() {
        let good = "[Variant \"From Position\"]\n1. e4 *\n";
        for (bad, expected) in [
            (
                "[Variant \"Atomic\"]\n1. e4",
                "game 2: unsupported variant 'atomic'",
            ),
            ("[Event \"no end]\n1. e4", "game 2: invalid tag"),
            ("[Event]", "game 2: invalid tag"),
        ] {
            let error = format!(
                "{:#}",
                split_chess_games(&format!("{good}{bad}")).expect_err(bad)
            );
            assert!(error.contains(expected), "{bad}: {error}");
        }
        let draughts = find_game("draughts").expect("the game is in the catalog");
        assert!(split_games("[GameType \"21,W,8,8,N1,0\"]\n1. 11-15 *", draughts).is_ok());
        let error =
            split_games("[GameType \"20\"]\n1. 32-28 *", draughts).expect_err("another game");
        assert!(
            format!("{error:#}").contains("game 1: unsupported GameType 20"),
            "{error:#}"
        );
    }

    #[test]
    fn opening_lists_are_not_detected_as_pgn() {
        for (text, expected) in [
            ("\n# book\n[Event \"x\"]\n", true),
            ("% x\n ; y\n\t[Event \"x\"]", true),
            ("e4 e5\n[Event \"x\"]", false),
            ("", false),
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", false),
        ] {
            assert_eq!(is_pgn(text), expected, "{text}");
        }
    }
}
