//! Comparison of the observed history with the final content of the store.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    HistoryCounts, ObservedHistory, PlayerMove, format_event, format_outcome, to_seat_index,
};
use crate::support::json_string;

impl ObservedHistory {
    /// Checks the observed history against the exported matches, one match per line.
    pub(in crate::crash) fn check_stored_matches(&self, exported: &str) -> HistoryCounts {
        let mut stored = HashMap::new();
        let mut events = 0;
        for line in exported.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            events += line["events"].as_array().expect("a list").len();
            self.check_stored_match(&line);
            stored.insert(json_string(&line["id"]), line);
        }
        for (id, last_seq) in &self.last_seqs {
            let line = stored.get(id);
            let line = line.unwrap_or_else(|| panic!("match {id} is lost"));
            let stored_seq = line["events"].as_array().map_or(0, Vec::len) as u64;
            assert!(
                stored_seq >= *last_seq,
                "{id}: {last_seq} events were told, {stored_seq} are there"
            );
        }
        HistoryCounts {
            matches: stored.len(),
            events,
            acknowledged: self.acknowledged_moves.len(),
            repeated_answers: self.repeated_answers,
            refused: self.refused_moves.len(),
            resumes: self.resumes,
        }
    }

    fn check_stored_match(&self, line: &Value) {
        let id = json_string(&line["id"]);
        if let Some(settled) = self.fixed_fields.get(&id) {
            let stored = ["code", "game", "host"].map(|field| line[field].clone());
            assert_eq!(stored, *settled, "match {id}");
        }
        let mut lost_events = self.events.get(&id).cloned().unwrap_or_default();
        let mut lost_moves = self.moves.get(&id).cloned().unwrap_or_default();
        let mut lost_replies: HashMap<(u64, u64), &PlayerMove> = (self.acknowledged_moves.iter())
            .filter(|(m, _)| m.match_id == id)
            .map(|(m, seq)| ((m.ply, *seq), m))
            .collect();
        let mut seats = [Value::Null, Value::Null];
        let mut ply = 0;
        let events = line["events"].as_array().expect("a list");
        for (index, event) in events.iter().enumerate() {
            let seq = index as u64 + 1;
            assert_eq!(event["seq"], seq, "{id}: a gap");
            let event_text = format_event(event, (event["type"] == "moved").then_some(ply));
            assert!(
                lost_events
                    .remove(&seq)
                    .is_none_or(|received_text| received_text == event_text),
                "{id}: {seq} is {event_text}"
            );
            match event["type"].as_str() {
                Some("seated") => seats[to_seat_index(&event["seat"])] = event["player"].clone(),
                Some("moved") => {
                    let m = json_string(&event["move"]);
                    assert!(
                        lost_moves.remove(&ply).is_none_or(|received| received == m),
                        "{id}: {ply}"
                    );
                    let mut acknowledged = lost_replies.remove(&(ply, seq));
                    if let Some(player) = seats[to_seat_index(&event["seat"])].as_str() {
                        let player = player.to_owned();
                        let player_move = PlayerMove {
                            match_id: id.clone(),
                            player,
                            ply,
                            m,
                        };
                        let (sent, refused) = (&self.sent_moves, &self.refused_moves);
                        assert!(sent.contains(&player_move), "not sent: {player_move:?}");
                        assert!(!refused.contains(&player_move), "refused: {player_move:?}");
                        acknowledged = acknowledged.filter(|m| **m != player_move);
                    }
                    assert_eq!(
                        acknowledged, None,
                        "a move other than the acknowledged one is stored"
                    );
                    ply += 1;
                }
                Some("ended") => {
                    assert_eq!(events.len(), index + 1, "{id} goes on after its end");
                    self.check_stored_outcome(&id, event, &seats);
                }
                _ => {}
            }
        }
        let last = events.last().map(|event| &event["type"]);
        assert_eq!(last, Some(&Value::from("ended")), "{id} has not ended");
        assert!(lost_events.is_empty(), "{id}: lost: {lost_events:?}");
        assert!(lost_moves.is_empty(), "{id}: lost: {lost_moves:?}");
        assert!(lost_replies.is_empty(), "{id}: lost: {lost_replies:?}");
    }

    fn check_stored_outcome(&self, id: &str, event: &Value, seats: &[Value; 2]) {
        let outcome = self.outcomes.get(id);
        assert!(
            outcome.is_none_or(|received| *received == format_outcome(event)),
            "{id}: not {outcome:?}"
        );
        match event["reason"].as_str() {
            Some("rules") => {}
            Some("resignation") => {
                let loser = &seats[1 - to_seat_index(&event["winner"])];
                let resignation = (id.to_owned(), json_string(loser));
                assert!(
                    self.resignations.contains(&resignation),
                    "{resignation:?} did not"
                );
            }
            _ => panic!("{id}: unexpected reason: {event}"),
        }
    }
}
