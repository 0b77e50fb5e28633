//! Records of games in the Smart Game Format, as far as a board is set up from them: the main line.

use std::fs::File;
use std::io::Read;

use plyhouse_engine::game::Seat;

use super::PASS;
use super::score::Komi;

/// No game of this board fills more. What is longer is refused.
const BYTES_MAX: u64 = 1 << 20;

/// Where a stone goes: whose, and the vertex.
type Play = (Seat, String);

/// The main line of a record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) komi: Option<Komi>,
    /// The stones that stand there before, and the moves, in the order of the record.
    plays: Vec<(Kind, Play)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Stone,
    Move,
}

impl Record {
    /// Reads a file; `None` if that cannot be read, or is no record of a game on this board.
    pub(super) fn load(file: &str, size: u8) -> Option<Self> {
        let mut text = Vec::new();
        let mut file = File::open(file).ok()?.take(BYTES_MAX + 1);
        file.read_to_end(&mut text).ok()?;
        let fits = u64::try_from(text.len()).is_ok_and(|bytes| bytes <= BYTES_MAX);
        fits.then(|| Self::read(&String::from_utf8_lossy(&text), size))?
    }

    fn read(text: &str, size: u8) -> Option<Self> {
        let mut record = Self::default();
        let mut rest = text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
        if !rest.starts_with('(') {
            return None;
        }
        // The first variation comes first everywhere, so the main line ends where anything first does.
        while !rest.starts_with(')') {
            rest = rest.trim_start_matches(|c: char| matches!(c, '(' | ';') || c.is_whitespace());
            if rest.starts_with(')') {
                break;
            }
            let end = rest.find('[')?;
            let (name, values) = rest.split_at(end);
            rest = record.property(name.trim(), values, size)?;
        }
        Some(record)
    }

    /// Takes over a property, and tells what comes after its values.
    fn property<'a>(&mut self, name: &str, mut rest: &'a str, size: u8) -> Option<&'a str> {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        // Before the fourth version names had small letters between.
        let name: String = name.chars().filter(char::is_ascii_uppercase).collect();
        while let Some(value) = rest.strip_prefix('[') {
            let end = end_of_value(value)?;
            self.value(&name, value[..end].trim(), size)?;
            rest = value[end + 1..].trim_start();
        }
        Some(rest)
    }

    fn value(&mut self, name: &str, value: &str, size: u8) -> Option<()> {
        match name {
            "SZ" if value != size.to_string() => return None,
            "KM" => self.komi = value.parse().ok(),
            "AB" => self.put(Seat::First, value, size)?,
            "AW" => self.put(Seat::Second, value, size)?,
            // A board from which stones are taken cannot be played to.
            "AE" => return None,
            "B" => self.play(Seat::First, value, size)?,
            "W" => self.play(Seat::Second, value, size)?,
            _ => {}
        }
        Some(())
    }

    /// A stone, or a rectangle of stones that is told by two corners.
    fn put(&mut self, seat: Seat, value: &str, size: u8) -> Option<()> {
        let (from, to) = value.split_once(':').unwrap_or((value, value));
        let ([left, top], [right, bottom]) = (place(from, size)?, place(to, size)?);
        for row in top..=bottom {
            for column in left..=right {
                let vertex = vertex([column, row], size);
                self.plays.push((Kind::Stone, (seat, vertex)));
            }
        }
        Some(())
    }

    fn play(&mut self, seat: Seat, value: &str, size: u8) -> Option<()> {
        let vertex = match value {
            // As passes were written before the fourth version.
            "" | "tt" => PASS.to_owned(),
            point => vertex(place(point, size)?, size),
        };
        self.plays.push((Kind::Move, (seat, vertex)));
        Some(())
    }

    /// What is to be played, to the end of so many moves.
    pub(super) fn played(&self, moves_max: usize) -> impl Iterator<Item = (Seat, &str)> {
        let mut moves = 0;
        let plays = self.plays.iter().take_while(move |(kind, _)| {
            moves += usize::from(*kind == Kind::Move);
            moves <= moves_max
        });
        plays.map(|(_, (seat, vertex))| (*seat, vertex.as_str()))
    }
}

/// Where a value ends: at the first bracket that is not escaped.
fn end_of_value(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b']' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// How far a point lies from the left and from the top.
fn place(text: &str, size: u8) -> Option<[u8; 2]> {
    let [column, row] = text.as_bytes() else {
        return None;
    };
    let at = |letter: &u8| letter.checked_sub(b'a').filter(|at| *at < size);
    Some([at(column)?, at(row)?])
}

/// The point as the protocol writes it, without an I.
fn vertex([column, row]: [u8; 2], size: u8) -> String {
    let letter = char::from(b'A' + column + u8::from(column >= 8));
    format!("{letter}{}", size - row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(text: &str, moves_max: usize) -> Option<String> {
        let record = Record::read(text, 9)?;
        let plays = record.played(moves_max);
        let told = |(seat, vertex): (Seat, &str)| format!("{}{vertex}", ["b", "w"][seat.index()]);
        Some(plays.map(told).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_main_line_is_read() {
        let text = "(;GM[1]FF[4]SZ[9]KM[5.5]C[a \\] in a comment];B[ee];W[cc]\n\
                    (;B[aa];W[])(;B[ii]))";
        assert_eq!(played(text, 99).as_deref(), Some("bE5 wC7 bA9 wpass"));
        assert_eq!(played(text, 2).as_deref(), Some("bE5 wC7"));
        assert_eq!(played(text, 0).as_deref(), Some(""));
        assert_eq!(
            Record::read(text, 9).and_then(|r| r.komi),
            "5.5".parse().ok()
        );
        let set_up = "(;SZ[9]AB[cc][gg]AW[aa:ba];W[tt];B[ie])";
        assert_eq!(
            played(set_up, 99).as_deref(),
            Some("bC7 bG3 wA9 wB9 wpass bJ5")
        );
    }

    #[test]
    fn what_is_no_record_of_this_board_is_refused() {
        for text in [
            "",
            "B[ee]",
            "(;SZ[19];B[ee])",
            "(;B[ee]",
            "(;B[zz])",
            "(;B[e])",
            "(;B[ee",
            "(;AE[ee])",
            "(;1[ee])",
        ] {
            assert_eq!(Record::read(text, 9), None, "{text}");
        }
    }
}
