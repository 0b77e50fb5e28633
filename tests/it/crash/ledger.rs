//! What was sent and told, by everybody and to everybody, in all lives of the server.

mod against_store;

use std::collections::{BTreeMap, HashMap, HashSet};

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::Value;

use crate::support::json_string;

/// A move that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub(super) id: String,
    pub(super) player: String,
    pub(super) ply: u64,
    pub(super) m: String,
}

/// How much happened, so that nobody takes an empty world for a sound one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) matches: usize,
    pub(super) events: usize,
    /// Moves that were answered by `ok`.
    pub(super) acknowledged: usize,
    /// Moves that were answered more than once.
    pub(super) repeated: usize,
    /// Moves that were turned down.
    pub(super) refused: usize,
    /// How often somebody came back by token.
    pub(super) resumed: usize,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// What never changes about a match: its code, game and host.
    settled: HashMap<String, [Value; 3]>,
    /// The matches, in the order in which they were heard of.
    matches: Vec<String>,
    /// Every event that was told, by match and number.
    told: HashMap<String, BTreeMap<u64, String>>,
    /// Every move that was told, by match and ply.
    moves: HashMap<String, BTreeMap<u64, String>>,
    /// How a match ended, as snapshots and events told it.
    ends: HashMap<String, String>,
    /// The last event that was known of a match, and what of it a server knew that has died.
    known: HashMap<String, u64>,
    known_before: HashMap<String, u64>,
    /// What players did who had the right to.
    sent: HashSet<Move>,
    resigned: HashSet<(String, String)>,
    /// The number that a move was answered with.
    acknowledged: HashMap<Move, u64>,
    refused: HashSet<Move>,
    repeated: usize,
    resumed: usize,
}

impl Ledger {
    /// A move is sent that may be played.
    pub(super) fn sent(&mut self, m: &Move) {
        self.sent.insert(m.clone());
    }

    /// Somebody gives up.
    pub(super) fn resigned(&mut self, id: &str, player: &str) {
        self.resigned.insert((id.to_owned(), player.to_owned()));
    }

    /// A move was answered by `ok`.
    pub(super) fn acknowledged(&mut self, m: Move, seq: u64) {
        self.note_move(&m.id, m.ply, &m.m);
        self.note_known(&m.id, seq);
        let before = self.acknowledged.insert(m.clone(), seq);
        assert!(
            before.is_none_or(|before| before == seq),
            "{m:?}: {before:?}, then {seq}"
        );
        self.repeated += usize::from(before.is_some());
    }

    /// A move was turned down for good.
    pub(super) fn refused(&mut self, m: Move) {
        let seq = self.acknowledged.get(&m);
        assert_eq!(
            seq, None,
            "{m:?} was played, and turned down when it was repeated"
        );
        self.refused.insert(m);
    }

    /// Somebody came back by token.
    pub(super) fn resumed(&mut self) {
        self.resumed += 1;
    }

    /// Whatever was told until now, the next server must know.
    pub(super) fn server_died(&mut self) {
        self.known_before.clone_from(&self.known);
    }

    /// One of the latest matches.
    pub(super) fn some_match(&self, rng: &mut StdRng) -> Option<String> {
        let latest = &self.matches[self.matches.len().saturating_sub(6)..];
        (!latest.is_empty()).then(|| latest[rng.random_range(0..latest.len())].clone())
    }

    /// Somebody was told this.
    pub(super) fn hear(&mut self, message: &Value) {
        match message["type"].as_str() {
            Some("match") => self.hear_snapshot(message),
            Some("events") => {
                for event in message["events"].as_array().expect("a list") {
                    self.hear_event(event);
                }
            }
            Some("seated" | "started" | "moved" | "ended") => self.hear_event(message),
            _ => {}
        }
    }

    fn hear_snapshot(&mut self, snapshot: &Value) {
        let id = json_string(&snapshot["match"]);
        let settled = ["code", "game", "host"].map(|field| snapshot[field].clone());
        let matches = &mut self.matches;
        let before = self.settled.entry(id.clone()).or_insert_with(|| {
            matches.push(id.clone());
            settled.clone()
        });
        assert_eq!(*before, settled, "match {id}");
        let seq = number(&snapshot["seq"]);
        let before = self.known_before.get(&id).copied().unwrap_or(0);
        assert!(
            seq >= before,
            "{id}: {before} events were told, {seq} are there"
        );
        self.note_known(&id, seq);
        for (ply, m) in snapshot["moves"]
            .as_array()
            .expect("a list")
            .iter()
            .enumerate()
        {
            self.note_move(&id, ply as u64, m.as_str().expect("a move"));
        }
        if snapshot["status"] == "ended" {
            self.note_end(&id, end(&snapshot["outcome"]));
        }
    }

    fn hear_event(&mut self, event: &Value) {
        let (id, seq) = (json_string(&event["match"]), number(&event["seq"]));
        match event["type"].as_str() {
            Some("moved") => {
                let m = event["move"].as_str().expect("a move");
                self.note_move(&id, number(&event["ply"]), m);
            }
            Some("ended") => self.note_end(&id, end(&event["outcome"])),
            _ => {}
        }
        let fact = fact(event, event["ply"].as_u64());
        let told = self.told.entry(id.clone()).or_default();
        let before = told.entry(seq).or_insert_with(|| fact.clone());
        assert_eq!(*before, fact, "{id}: two events {seq}");
        self.note_known(&id, seq);
    }

    fn note_known(&mut self, id: &str, seq: u64) {
        let known = self.known.entry(id.to_owned()).or_default();
        *known = seq.max(*known);
    }

    fn note_move(&mut self, id: &str, ply: u64, m: &str) {
        let moves = self.moves.entry(id.to_owned()).or_default();
        let before = moves.entry(ply).or_insert_with(|| m.to_owned());
        assert_eq!(before, m, "{id}: two moves {ply}");
    }

    fn note_end(&mut self, id: &str, end: String) {
        let before = self
            .ends
            .entry(id.to_owned())
            .or_insert_with(|| end.clone());
        assert_eq!(*before, end, "{id}: two results");
    }
}

/// An event as a text, whether it was told or is kept.
fn fact(event: &Value, ply: Option<u64>) -> String {
    let kind = event["type"].as_str().expect("a type");
    let seat = &event["seat"];
    match kind {
        "seated" => {
            let occupants = ["player", "level", "bot"].map(|field| event[field].as_str());
            let occupant = occupants.into_iter().flatten().next();
            format!("seat {seat}: {occupant:?}")
        }
        "moved" => format!("ply {ply:?}, seat {seat}: {}", event["move"]),
        "ended" if event["outcome"].is_null() => end(event),
        "ended" => end(&event["outcome"]),
        _ => kind.to_owned(),
    }
}

fn end(outcome: &Value) -> String {
    format!("{} wins by {}", outcome["winner"], outcome["reason"])
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

fn seat(value: &Value) -> usize {
    usize::try_from(number(value)).expect("a seat")
}
