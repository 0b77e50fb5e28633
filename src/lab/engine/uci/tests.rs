use std::time::Duration;

use plyhouse_engine::catalog::find;
use plyhouse_engine::search::{Limits, Stop};

use super::*;

/// What an engine answers to these lines, none of which has it think.
struct Table {
    uci: Uci,
    analyst: Box<dyn Analyst>,
}

impl Table {
    fn new() -> Self {
        let game = find("chess").expect("it is hosted");
        let settings = Settings {
            game,
            level: Level::Max,
            time: Duration::from_secs(1),
            table_mib: 1,
        };
        Self {
            uci: Uci::new(settings),
            analyst: game.analyst(0),
        }
    }

    fn take(&mut self, line: &str) -> (Next, String) {
        let mut out = Vec::new();
        let next = self.uci.take(line, &mut self.analyst, &mut out);
        let text = String::from_utf8(out).expect("text");
        (next.expect("a vector can be written to"), text)
    }

    fn say(&mut self, line: &str) -> String {
        let (next, text) = self.take(line);
        assert_eq!(next, Next::Line, "{line}");
        text
    }

    fn limits(&mut self, line: &str) -> Limits {
        match self.take(line).0 {
            Next::Think(question) => question.limits,
            next @ (Next::Line | Next::Quit) => panic!("{line}: {next:?}"),
        }
    }

    fn position(&self) -> String {
        self.analyst.position().to_string()
    }
}

#[test]
fn it_introduces_itself() {
    let mut table = Table::new();
    let text = table.say("uci");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("id name Plyhouse "), "{text}");
    assert_eq!(
        lines[2..],
        [
            "option name Hash type spin default 1 min 1 max 65536",
            "option name Level type combo default max var beginner var easy var medium var hard \
             var max",
            "uciok"
        ]
    );
    assert_eq!(table.say("isready"), "readyok\n");
    assert_eq!(table.take("quit"), (Next::Quit, String::new()));
}

#[test]
fn a_position_is_set_up_or_nothing_changes() {
    let mut table = Table::new();
    let start = table.position();
    assert_eq!(table.say("position startpos moves e2e4 e7e5"), "");
    let open = table.position();
    assert!(
        open.starts_with("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w"),
        "{open}"
    );
    for bad in [
        "position startpos moves e2e4 e2e4",
        "position startpos moves nonsense",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen",
        "position",
        "position fen moves e2e4",
    ] {
        let told = table.say(bad);
        assert!(told.starts_with("info string "), "{bad}: {told}");
        assert_eq!(table.position(), open, "{bad}");
    }
    // Neither a table of another size nor a new game touches what is on the board.
    assert_eq!(table.say("setoption name Hash value 2"), "");
    assert_eq!(table.say("ucinewgame"), "");
    assert_eq!(table.position(), open);
    assert_eq!(table.say("position startpos"), "");
    assert_eq!(table.position(), start);
    let fen = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 5 40";
    assert_eq!(table.say(&format!("position fen {fen}")), "");
    assert_eq!(table.position(), fen);
    assert_eq!(table.say("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w Q -"), "");
    assert_eq!(table.position(), "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1");
}

#[test]
fn what_is_not_known_is_ignored() {
    let mut table = Table::new();
    for line in [
        "",
        "  ",
        "nonsense",
        "debug on",
        "ponderhit",
        "register later",
        "stop",
    ] {
        assert_eq!(table.say(line), "", "{line}");
    }
    assert_eq!(table.say("what is this isready"), "readyok\n");
    for line in [
        "setoption name Hash value 0",
        "setoption name Hash value much",
        "setoption name Level value perfect",
        "setoption name Threads value 2",
        "setoption",
    ] {
        assert!(table.say(line).starts_with("info string "), "{line}");
    }
}

#[test]
fn a_search_is_limited_as_it_is_asked_for() {
    let mut table = Table::new();
    let ms = Duration::from_millis;
    assert_eq!(table.limits("go depth 7").depth, Some(7));
    assert_eq!(table.limits("go nodes 1000").nodes, Some(1000));
    assert_eq!(table.limits("go movetime 130").time, Some(ms(100)));
    let clocks = "go wtime 60030 btime 30030 winc 1000 binc 0 movestogo 20";
    assert_eq!(table.limits(clocks).time, Some(ms(3750)));
    table.say("position startpos moves e2e4");
    assert_eq!(table.limits(clocks).time, Some(ms(1500)));
    assert_eq!(table.limits("go wtime 5 btime -40").time, Some(ms(1)));
    assert_eq!(table.limits("go infinite"), Limits::default());
    assert_eq!(table.limits("go"), Limits::default());
    assert_eq!(
        table.limits("go depth soon searchmoves e7e5"),
        Limits::default()
    );
    let (_, told) = table.take("go depth 1 searchmoves e7e5");
    assert!(told.starts_with("info string searchmoves is not"), "{told}");
    table.limits("go");
    assert!(table.uci.is_infinite);
    assert_eq!(table.limits("go infinite depth 3"), Limits::default());
}

/// An interface may go on where a player could claim a draw, but has not.
#[test]
fn a_draw_that_nobody_claimed_does_not_end_the_game() {
    let mut table = Table::new();
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(3);
    assert_eq!(table.say(&format!("position startpos moves {shuffle}")), "");
    assert_eq!(table.analyst.position().legal_moves().len(), 20);
    let quiet = "position fen 7k/8/8/8/8/8/8/R3K3 w Q - 99 80 moves a1a2 h8g8";
    assert_eq!(table.say(quiet), "");
    assert_eq!(table.analyst.position().outcome(), None);
    // Mate is mate.
    table.say("position fen 7k/R7/6K1/8/8/8/8/8 w - - 0 1 moves a7a8");
    assert!(table.analyst.position().outcome().is_some());
    let told = table.say("position fen 7k/R7/6K1/8/8/8/8/8 w - - 0 1 moves a7a8 h8h7");
    assert!(told.starts_with("info string "), "{told}");
}

#[test]
fn an_infinite_search_answers_when_it_is_stopped() {
    let mut table = Table::new();
    let found = |table: &mut Table, stopped| {
        let limits = Limits::depth(1);
        let choice = (table.analyst).choose(Level::Max, 0, &limits, &Stop::new(), &mut |_| {});
        let mut out = Vec::new();
        table
            .uci
            .found(choice, stopped, &mut table.analyst, &mut out)
            .expect("a vector can be written to");
        String::from_utf8(out).expect("text")
    };
    table.limits("go infinite");
    assert!(!found(&mut table, false).contains("bestmove"));
    assert!(table.say("stop").starts_with("bestmove "));
    assert_eq!(table.say("stop"), "");
    table.limits("go infinite");
    assert!(found(&mut table, true).contains("\nbestmove "));
    table.limits("go depth 1");
    assert!(found(&mut table, false).contains("\nbestmove "));
}

#[test]
fn values_are_told_as_interfaces_show_them() {
    assert_eq!(score(Score::estimate(-35)), "cp -35");
    assert_eq!(score(Score::win_in(1)), "mate 1");
    assert_eq!(score(Score::win_in(5)), "mate 3");
    assert_eq!(score(Score::loss_in(2)), "mate -1");
    assert_eq!(score(Score::loss_in(4)), "mate -2");
}
