//! Tests of the JSON Schema files for client and server messages.
//!
//! The schemas are generated from the Rust types and checked in, so that reviewers see each change
//! to the protocol. Authors of clients in other languages can validate messages with these schemas.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::{Event, Request, ServerMessage};

/// Checks that the schema file in the repository equals the schema that is generated from the Rust
/// types. If the environment variable `UPDATE_SCHEMA` is set, the file is updated first.
fn check_schema(file: &str, schema: &Schema) {
    let path = format!("{}/schema/{file}", env!("CARGO_MANIFEST_DIR"));
    let generated = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        generated == checked_in,
        "{file} is not what the types say; run `UPDATE_SCHEMA=1 cargo test -p plyhouse-protocol schema`"
    );
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings, title: &str) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema
}

#[test]
fn request_schema_is_up_to_date() {
    // The request schema describes what the server accepts: an optional field may be absent or
    // `null`.
    let schema = schema_of::<Request>(
        SchemaSettings::draft2020_12(),
        "A message from a client to a Plyhouse server",
    );
    check_schema("client.json", &schema);
}

#[test]
fn server_message_schema_is_up_to_date() {
    // This schema describes messages as the server writes them. A field that is always written is
    // required, but its value may be `null`.
    let schema = schema_of::<ServerMessage>(
        SchemaSettings::draft2020_12().for_serialize(),
        "A message from a Plyhouse server to a client",
    );
    check_schema("server.json", &schema);
}

/// Clients silently ignore message types that are missing from the `TYPES` lists, so the lists must
/// be complete.
#[test]
fn type_lists_contain_every_message_and_event() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = schema_of::<ServerMessage>(settings, "");
    let types = |pointer: &str| {
        let all = schema.pointer(pointer).and_then(|all| all.as_array());
        let types = all.expect("a list").iter();
        let types = types.filter_map(|one| one.pointer("/properties/type/const")?.as_str());
        types.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(
        types("/anyOf"),
        ServerMessage::TYPES.map(str::to_owned).into()
    );
    let events = Event::TYPES.map(str::to_owned);
    assert_eq!(types("/$defs/Event/oneOf"), events.into());
}
