//! Scores in the `info` lines of UCI engines.

/// Score of a forced mate. Scores in centipawns never exceed it.
pub const MATE_SCORE: i32 = 1_000_000;

/// Parses the score of a UCI line such as `info … score cp N …` or `info … score mate N …`.
///
/// Returns `None` if the score is only a bound. In a multi-PV search, also returns `None` for all
/// lines but the first.
pub(super) fn parse_score(line: &str) -> Option<i32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.first() != Some(&"info") {
        return None;
    }
    // The keywords `string`, `pv`, `refutation` and `currline` are followed by free text or moves.
    // The parser ignores everything after such a keyword.
    let starts_text_or_moves =
        |word: &&str| matches!(*word, "string" | "pv" | "refutation" | "currline");
    let end = words.iter().position(starts_text_or_moves);
    let words = &words[..end.unwrap_or(words.len())];
    let after = |key: &str| {
        let place = words.iter().position(|word| *word == key)?;
        words.get(place + 1..)
    };
    if after("multipv").is_some_and(|rest| rest.first() != Some(&"1")) {
        return None;
    }
    let [kind, number, rest @ ..] = after("score")? else {
        return None;
    };
    if matches!(rest.first(), Some(&("lowerbound" | "upperbound"))) {
        return None;
    }
    let number: i32 = number.parse().ok()?;
    match *kind {
        "cp" => Some(number.clamp(-MATE_SCORE, MATE_SCORE)),
        "mate" if number > 0 => Some(MATE_SCORE),
        "mate" => Some(-MATE_SCORE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uci_info_lines_are_parsed_as_scores() {
        for (line, score) in [
            ("info depth 9 score cp -35 nodes 20 pv e2e4", Some(-35)),
            (
                "info depth 9 multipv 1 score mate 3 pv e2e4",
                Some(MATE_SCORE),
            ),
            ("info score mate -1", Some(-MATE_SCORE)),
            ("info score mate 0", Some(-MATE_SCORE)),
            ("info score cp 12 lowerbound nodes 7", None),
            ("info score cp 12 upperbound", None),
            ("info depth 9 multipv 2 score cp 99", None),
            ("info string score cp 99", None),
            ("info nodes 5 pv e2e4 score cp 99", None),
            ("info depth 9 score cp", None),
            ("info score cp 99999999999", None),
            ("bestmove e2e4", None),
            ("", None),
        ] {
            assert_eq!(parse_score(line), score, "{line}");
        }
    }
}
