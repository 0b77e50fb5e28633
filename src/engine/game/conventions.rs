//! What the players of a game have agreed on beside its rules: how programs that play it are spoken
//! to, and in which files games are kept.

/// A protocol in which programs of several games, or of one, are asked for moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineProtocol {
    /// The Universal Chess Interface (Meyer-Kahlen and Huber, 2000). Moves and positions are those of
    /// the wire.
    Uci,
    /// The Go Text Protocol, version 2 (Farnebäck, 2002). Moves are those of the wire.
    Gtp {
        /// What the rules give the second seat for moving second.
        komi: u32,
    },
    /// The protocol of Gomocup and its manager Piskvork (Laštovička and Petříček, 2000). Moves of the
    /// wire are squares, and positions are written as in FEN.
    Piskvork,
}

/// A format of files in which games are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// Portable Game Notation ("PGN Specification and Implementation Guide", 1994).
    Pgn,
    /// Portable Draughts Notation, which is PGN with a number for the kind of draughts
    /// ("PDN 3.0", FMJD, 2016).
    Pdn {
        /// That number.
        game_type: &'static str,
    },
    /// Smart Game Format, version 4 (Hollosi, 1999).
    Sgf {
        /// The number of the game.
        game: u8,
        /// What else the root tells of the rules, as properties and their values.
        rules: &'static [(&'static str, &'static str)],
    },
    /// Plain text, for games whose players have agreed on nothing: the moves in one line, and in the next
    /// how it ended.
    Txt,
}

impl RecordFormat {
    /// What the names of such files end with.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Pgn => "pgn",
            Self::Pdn { .. } => "pdn",
            Self::Sgf { .. } => "sgf",
            Self::Txt => "txt",
        }
    }

    /// A point as SGF writes it: how far from the left and how far from the top, as letters.
    #[must_use]
    pub fn sgf_point(from_left: u8, from_top: u8) -> String {
        [from_left, from_top]
            .map(|at| char::from(b'a' + at))
            .iter()
            .collect()
    }
}
