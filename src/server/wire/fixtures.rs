//! Texts that servers of an earlier release stored or sent. `tests/data/fixtures/README.md` describes the files.

use plyhouse_protocol::Listing;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::admin_commands::{AdminCommand, AdminResult};

const SQLITE: &str = include_str!("../../../tests/data/fixtures/sqlite.texts");
const POSTGRES: &str = include_str!("../../../tests/data/fixtures/postgres.texts");

/// The texts of a column, of the fixtures of both databases. There is at least one.
pub(crate) fn texts(column: &str) -> Vec<&'static str> {
    let lines = SQLITE.lines().chain(POSTGRES.lines());
    let named = lines.filter_map(|line| line.split_once('\t'));
    let texts: Vec<&str> = (named.filter(|(name, _)| *name == column))
        .map(|(_, text)| text)
        .collect();
    assert!(!texts.is_empty(), "no text of {column}");
    texts
}

/// Reads a sent text and writes it again: not a byte differs.
pub(crate) fn check_bytes<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value = read(text);
    let written = serde_json::to_string(&value).expect("plain data");
    assert_eq!(written, text);
    value
}

/// Reads a stored text and writes it again: the JSON is the same. Its order may differ, since the deletion of a player
/// sorts the fields.
pub(crate) fn check<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value = read(text);
    let written = serde_json::to_value(&value).expect("plain data");
    assert_eq!(written, read::<Value>(text));
    value
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

#[test]
fn stored_orders_are_read() {
    let orders: Vec<AdminCommand> = texts("orders.body").into_iter().map(check).collect();
    for is_kind in [
        |order: &AdminCommand| matches!(order, AdminCommand::Close { name } if name == "erik"),
        |order: &AdminCommand| matches!(order, AdminCommand::Invite { code } if code.len() == 64),
        |order: &AdminCommand| matches!(order, AdminCommand::Recover { name, .. } if name == "bobby"),
        |order: &AdminCommand| matches!(order, AdminCommand::Rename { to, .. } if to == "doris"),
        |order: &AdminCommand| matches!(order, AdminCommand::Unrate { name } if name == "erik"),
    ] {
        assert!(orders.iter().any(is_kind), "{orders:?}");
    }
    let answers = texts("orders.answer").into_iter().map(check::<AdminResult>);
    let answers: Vec<AdminResult> = answers.collect();
    assert!(answers.contains(&AdminResult::Done));
    let is_refused = |answer: &AdminResult| matches!(answer, AdminResult::Refused(_));
    assert!(answers.iter().any(is_refused), "{answers:?}");
}

#[test]
fn stored_rows_of_lists_are_read() {
    let listings: Vec<Listing> = texts("matches.card").into_iter().map(check).collect();
    assert!(listings.iter().any(|listing| listing.rated));
    assert!(listings.iter().any(|listing| listing.clock.is_some()));
}
