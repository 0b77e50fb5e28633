//! External conventions for a game: the engine protocol and the file format for game records.

/// Protocol for requesting moves from an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineProtocol {
    /// The Universal Chess Interface (Meyer-Kahlen and Huber, 2000). Moves and positions have the
    /// same notation as in the wire protocol.
    Uci,
    /// The Go Text Protocol, version 2 (Farnebäck, 2002). Moves have the same notation as in the
    /// wire protocol.
    Gtp {
        /// Points that the rules give the second seat as compensation for moving second.
        komi: u32,
    },
    /// The protocol of the Gomocup tournament and its manager Piskvork (Laštovička and Petříček,
    /// 2000). Moves and positions must be converted for this protocol. The wire protocol writes a
    /// move as a square and a position in a notation like FEN.
    Piskvork,
}

/// File format of game records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// Portable Game Notation ("PGN Specification and Implementation Guide", 1994).
    Pgn,
    /// Portable Draughts Notation: PGN with an additional number for the draughts variant ("PDN
    /// 3.0", FMJD, 2016).
    Pdn {
        /// Value of the `GameType` tag, which identifies the draughts variant.
        game_type: &'static str,
    },
    /// Smart Game Format, version 4 (Hollosi, 1999).
    Sgf {
        /// Value of the SGF property `GM`, which identifies the game.
        game: u8,
        /// Names and values of additional SGF root properties that describe the rules.
        rules: &'static [(&'static str, &'static str)],
    },
    /// Plain text, for games without an established record format: a line with the moves, then a
    /// line with the result. If the initial position is custom, it is written on its own line
    /// before the moves.
    Txt,
}

impl RecordFormat {
    /// Returns the file name extension of the format, without a dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Pgn => "pgn",
            Self::Pdn { .. } => "pdn",
            Self::Sgf { .. } => "sgf",
            Self::Txt => "txt",
        }
    }

    /// Returns a point in SGF notation: a letter for the column, then a letter for the row. Columns
    /// are counted from 0 on the left, and rows from 0 at the top.
    #[must_use]
    pub fn sgf_point(from_left: u8, from_top: u8) -> String {
        [from_left, from_top]
            .map(|at| char::from(b'a' + at))
            .iter()
            .collect()
    }
}
