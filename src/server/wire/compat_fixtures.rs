//! Test fixtures: texts that servers of earlier releases stored or sent.
//! `tests/data/fixtures/README.md` describes the fixture files.

use plyhouse_protocol::ListedMatch;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::admin_commands::{AdminCommand, AdminResult};

const SQLITE: &str = include_str!("../../../tests/data/fixtures/sqlite.texts");
const POSTGRES: &str = include_str!("../../../tests/data/fixtures/postgres.texts");

/// Returns the fixture values of a database column, from both SQLite and PostgreSQL. Panics if the
/// fixtures contain no value of the column.
pub(crate) fn stored_texts(column: &str) -> Vec<&'static str> {
    let lines = SQLITE.lines().chain(POSTGRES.lines());
    let named = lines.filter_map(|line| line.split_once('\t'));
    let texts: Vec<&str> = (named.filter(|(name, _)| *name == column))
        .map(|(_, text)| text)
        .collect();
    assert!(!texts.is_empty(), "no text of {column}");
    texts
}

/// Parses text that a server sent, and checks that serialising the value yields the same bytes.
pub(crate) fn assert_round_trip_bytes<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value = parse(text);
    let written = serde_json::to_string(&value).expect("the value serializes to JSON");
    assert_eq!(written, text);
    value
}

/// Parses text that a server stored, and checks that serialising the value yields equal JSON. The
/// order of fields may differ, because deleting a player sorts the fields.
pub(crate) fn assert_round_trip<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value = parse(text);
    let written = serde_json::to_value(&value).expect("the value serializes to JSON");
    assert_eq!(written, parse::<Value>(text));
    value
}

fn parse<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

#[test]
fn stored_admin_commands_parse() {
    let commands: Vec<AdminCommand> = stored_texts("orders.body")
        .into_iter()
        .map(assert_round_trip)
        .collect();
    for is_kind in [
        |order: &AdminCommand| matches!(order, AdminCommand::Close { name } if name == "erik"),
        |order: &AdminCommand| matches!(order, AdminCommand::Invite { code } if code.len() == 64),
        |order: &AdminCommand| matches!(order, AdminCommand::Recover { name, .. } if name == "bobby"),
        |order: &AdminCommand| matches!(order, AdminCommand::Rename { to, .. } if to == "doris"),
        |order: &AdminCommand| matches!(order, AdminCommand::ExcludeFromRatings { name } if name == "erik"),
    ] {
        assert!(commands.iter().any(is_kind), "{commands:?}");
    }
    let answers = stored_texts("orders.answer")
        .into_iter()
        .map(assert_round_trip::<AdminResult>);
    let answers: Vec<AdminResult> = answers.collect();
    assert!(answers.contains(&AdminResult::Done));
    let is_refused = |answer: &AdminResult| matches!(answer, AdminResult::Refused(_));
    assert!(answers.iter().any(is_refused), "{answers:?}");
}

#[test]
fn stored_listings_parse() {
    let listings: Vec<ListedMatch> = stored_texts("matches.card")
        .into_iter()
        .map(assert_round_trip)
        .collect();
    assert!(listings.iter().any(|listing| listing.rated));
    assert!(listings.iter().any(|listing| listing.clock.is_some()));
}
