//! History of what clients sent and received: moves, resignations, events and snapshots. It spans
//! restarts of the server.

mod store_check;

use std::collections::{BTreeMap, HashMap, HashSet};

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::Value;

use crate::support::json_string;

/// A move that a player sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PlayerMove {
    pub(super) match_id: String,
    pub(super) player: String,
    pub(super) ply: u64,
    pub(super) m: String,
}

/// Statistics of a run. The test checks these statistics, because a run with too few events proves
/// nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HistoryCounts {
    pub(super) matches: usize,
    pub(super) events: usize,
    /// Number of moves that were answered with `ok`.
    pub(super) acknowledged: usize,
    /// Number of times that a repeated move was answered with `ok` again.
    pub(super) repeated_answers: usize,
    /// Number of moves that were refused.
    pub(super) refused: usize,
    /// Number of sessions resumed by token.
    pub(super) resumes: usize,
}

#[derive(Debug, Default)]
pub(super) struct ObservedHistory {
    /// Code, game and host of each match. These values must never change.
    fixed_fields: HashMap<String, [Value; 3]>,
    /// Match ids, ordered by the arrival times of their first snapshots.
    match_ids: Vec<String>,
    /// Received events, by match and sequence number.
    events: HashMap<String, BTreeMap<u64, String>>,
    /// Received moves, by match and ply.
    moves: HashMap<String, BTreeMap<u64, String>>,
    /// Outcomes of matches, received in snapshots or events.
    outcomes: HashMap<String, String>,
    /// Highest sequence number received for each match. `last_seqs_before_kill` is a copy of this
    /// map from the last kill of the server.
    last_seqs: HashMap<String, u64>,
    last_seqs_before_kill: HashMap<String, u64>,
    /// Legal moves that players sent. Resignations are stored in `resignations`, as pairs of match
    /// id and player id.
    sent_moves: HashSet<PlayerMove>,
    resignations: HashSet<(String, String)>,
    /// Sequence number in the answer to each acknowledged move.
    acknowledged_moves: HashMap<PlayerMove, u64>,
    refused_moves: HashSet<PlayerMove>,
    repeated_answers: usize,
    resumes: usize,
}

impl ObservedHistory {
    /// Records that a player sends a legal move.
    pub(super) fn record_sent_move(&mut self, m: &PlayerMove) {
        self.sent_moves.insert(m.clone());
    }

    /// Records that a player resigns.
    pub(super) fn record_resignation(&mut self, id: &str, player: &str) {
        self.resignations.insert((id.to_owned(), player.to_owned()));
    }

    /// Records that a move was answered with `ok`.
    pub(super) fn record_acknowledged_move(&mut self, m: PlayerMove, seq: u64) {
        self.record_move(&m.match_id, m.ply, &m.m);
        self.record_last_seq(&m.match_id, seq);
        let previous = self.acknowledged_moves.insert(m.clone(), seq);
        assert!(
            previous.is_none_or(|before| before == seq),
            "{m:?}: {previous:?}, then {seq}"
        );
        self.repeated_answers += usize::from(previous.is_some());
    }

    /// Records that the server refused a move with an error that a retry cannot resolve.
    pub(super) fn record_refused_move(&mut self, m: PlayerMove) {
        let seq = self.acknowledged_moves.get(&m);
        assert_eq!(
            seq, None,
            "{m:?} was acknowledged, but refused when it was repeated"
        );
        self.refused_moves.insert(m);
    }

    /// Counts a session that was resumed by token.
    pub(super) fn count_resume(&mut self) {
        self.resumes += 1;
    }

    /// Saves the highest sequence number received for each match. The restarted server must know
    /// all events up to these numbers.
    pub(super) fn mark_server_killed(&mut self) {
        self.last_seqs_before_kill.clone_from(&self.last_seqs);
    }

    /// Picks one of the six most recently observed matches at random. Returns `None` if no match
    /// was observed.
    pub(super) fn random_recent_match(&self, rng: &mut StdRng) -> Option<String> {
        let recent = &self.match_ids[self.match_ids.len().saturating_sub(6)..];
        (!recent.is_empty()).then(|| recent[rng.random_range(0..recent.len())].clone())
    }

    /// Records a message that a client received.
    pub(super) fn record_message(&mut self, message: &Value) {
        match message["type"].as_str() {
            Some("match") => self.record_snapshot(message),
            Some("events") => {
                for event in message["events"].as_array().expect("a list") {
                    self.record_event(event);
                }
            }
            Some("seated" | "started" | "moved" | "ended") => self.record_event(message),
            _ => {}
        }
    }

    fn record_snapshot(&mut self, snapshot: &Value) {
        let id = json_string(&snapshot["match"]);
        let fields = ["code", "game", "host"].map(|field| snapshot[field].clone());
        let matches = &mut self.match_ids;
        let previous = self.fixed_fields.entry(id.clone()).or_insert_with(|| {
            matches.push(id.clone());
            fields.clone()
        });
        assert_eq!(*previous, fields, "match {id}");
        let seq = to_u64(&snapshot["seq"]);
        let min_seq = self.last_seqs_before_kill.get(&id).copied().unwrap_or(0);
        assert!(
            seq >= min_seq,
            "{id}: {min_seq} events were told, {seq} are there"
        );
        self.record_last_seq(&id, seq);
        for (ply, m) in snapshot["moves"]
            .as_array()
            .expect("a list")
            .iter()
            .enumerate()
        {
            self.record_move(&id, ply as u64, m.as_str().expect("a move"));
        }
        if snapshot["status"] == "ended" {
            self.record_outcome(&id, format_outcome(&snapshot["outcome"]));
        }
    }

    fn record_event(&mut self, event: &Value) {
        let (id, seq) = (json_string(&event["match"]), to_u64(&event["seq"]));
        match event["type"].as_str() {
            Some("moved") => {
                let m = event["move"].as_str().expect("a move");
                self.record_move(&id, to_u64(&event["ply"]), m);
            }
            Some("ended") => self.record_outcome(&id, format_outcome(&event["outcome"])),
            _ => {}
        }
        let event_text = format_event(event, event["ply"].as_u64());
        let events = self.events.entry(id.clone()).or_default();
        let previous = events.entry(seq).or_insert_with(|| event_text.clone());
        assert_eq!(*previous, event_text, "{id}: two events {seq}");
        self.record_last_seq(&id, seq);
    }

    fn record_last_seq(&mut self, id: &str, seq: u64) {
        let last_seq = self.last_seqs.entry(id.to_owned()).or_default();
        *last_seq = seq.max(*last_seq);
    }

    fn record_move(&mut self, id: &str, ply: u64, m: &str) {
        let moves = self.moves.entry(id.to_owned()).or_default();
        let previous = moves.entry(ply).or_insert_with(|| m.to_owned());
        assert_eq!(previous, m, "{id}: two moves {ply}");
    }

    fn record_outcome(&mut self, id: &str, outcome: String) {
        let previous = self
            .outcomes
            .entry(id.to_owned())
            .or_insert_with(|| outcome.clone());
        assert_eq!(*previous, outcome, "{id}: two outcomes");
    }
}

/// Formats a received or stored event as text, so that both can be compared.
fn format_event(event: &Value, ply: Option<u64>) -> String {
    let kind = event["type"].as_str().expect("a type");
    let seat = &event["seat"];
    match kind {
        "seated" => {
            let occupants = ["player", "level", "bot"].map(|field| event[field].as_str());
            let occupant = occupants.into_iter().flatten().next();
            format!("seat {seat}: {occupant:?}")
        }
        "moved" => format!("ply {ply:?}, seat {seat}: {}", event["move"]),
        "ended" if event["outcome"].is_null() => format_outcome(event),
        "ended" => format_outcome(&event["outcome"]),
        _ => kind.to_owned(),
    }
}

fn format_outcome(outcome: &Value) -> String {
    format!("{} wins by {}", outcome["winner"], outcome["reason"])
}

fn to_u64(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

fn to_seat_index(value: &Value) -> usize {
    usize::try_from(to_u64(value)).expect("a seat")
}
