//! The ledger against what the store has in the end.

use std::collections::HashMap;

use serde_json::Value;

use super::{Counts, Ledger, Move, end, fact, seat};
use crate::support::json_string;

impl Ledger {
    /// Holds everything against what the store has in the end, a match a line.
    pub(in crate::crash) fn check(&self, exported: &str) -> Counts {
        let mut kept = HashMap::new();
        let mut events = 0;
        for line in exported.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            events += line["events"].as_array().expect("a list").len();
            self.check_match(&line);
            kept.insert(json_string(&line["id"]), line);
        }
        for (id, known) in &self.known {
            let line = kept.get(id);
            let line = line.unwrap_or_else(|| panic!("match {id} is lost"));
            let last = line["events"].as_array().map_or(0, Vec::len) as u64;
            assert!(
                last >= *known,
                "{id}: {known} events were told, {last} are there"
            );
        }
        Counts {
            matches: kept.len(),
            events,
            acknowledged: self.acknowledged.len(),
            repeated: self.repeated,
            refused: self.refused.len(),
            resumed: self.resumed,
        }
    }

    fn check_match(&self, line: &Value) {
        let id = json_string(&line["id"]);
        if let Some(settled) = self.settled.get(&id) {
            let kept = ["code", "game", "host"].map(|field| line[field].clone());
            assert_eq!(kept, *settled, "match {id}");
        }
        let mut told = self.told.get(&id).cloned().unwrap_or_default();
        let mut moves = self.moves.get(&id).cloned().unwrap_or_default();
        let mut acknowledged: HashMap<(u64, u64), &Move> = (self.acknowledged.iter())
            .filter(|(m, _)| m.id == id)
            .map(|(m, seq)| ((m.ply, *seq), m))
            .collect();
        let mut seats = [Value::Null, Value::Null];
        let mut ply = 0;
        let events = line["events"].as_array().expect("a list");
        for (index, event) in events.iter().enumerate() {
            let seq = index as u64 + 1;
            assert_eq!(event["seq"], seq, "{id}: a gap");
            let fact = fact(event, (event["type"] == "moved").then_some(ply));
            assert!(
                told.remove(&seq).is_none_or(|told| told == fact),
                "{id}: {seq} is {fact}"
            );
            match event["type"].as_str() {
                Some("seated") => seats[seat(&event["seat"])] = event["player"].clone(),
                Some("moved") => {
                    let m = json_string(&event["move"]);
                    assert!(
                        moves.remove(&ply).is_none_or(|told| told == m),
                        "{id}: {ply}"
                    );
                    let mut acknowledged = acknowledged.remove(&(ply, seq));
                    if let Some(player) = seats[seat(&event["seat"])].as_str() {
                        let player = player.to_owned();
                        let played = Move {
                            id: id.clone(),
                            player,
                            ply,
                            m,
                        };
                        assert!(self.sent.contains(&played), "nobody sent {played:?}");
                        assert!(!self.refused.contains(&played), "turned down: {played:?}");
                        acknowledged = acknowledged.filter(|m| **m != played);
                    }
                    assert_eq!(acknowledged, None, "another move was played");
                    ply += 1;
                }
                Some("ended") => {
                    assert_eq!(events.len(), index + 1, "{id} goes on after its end");
                    self.check_end(&id, event, &seats);
                }
                _ => {}
            }
        }
        let last = events.last().map(|event| &event["type"]);
        assert_eq!(last, Some(&Value::from("ended")), "{id} has not ended");
        assert!(told.is_empty(), "{id}: lost: {told:?}");
        assert!(moves.is_empty(), "{id}: lost: {moves:?}");
        assert!(acknowledged.is_empty(), "{id}: lost: {acknowledged:?}");
    }

    fn check_end(&self, id: &str, event: &Value, seats: &[Value; 2]) {
        let told = self.ends.get(id);
        assert!(
            told.is_none_or(|told| *told == end(event)),
            "{id}: not {told:?}"
        );
        match event["reason"].as_str() {
            Some("rules") => {}
            Some("resignation") => {
                let loser = &seats[1 - seat(&event["winner"])];
                let resigned = (id.to_owned(), json_string(loser));
                assert!(self.resigned.contains(&resigned), "{resigned:?} did not");
            }
            _ => panic!("{id}: nobody was away for long: {event}"),
        }
    }
}
