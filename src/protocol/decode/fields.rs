//! Fields of a request that have not been parsed yet, in their original order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::BadField;
use super::field_parsers::FieldParser;

/// Maximum number of ignored fields that a reply lists. `IGNORED_BYTES_MAX` limits the length of
/// each listed name, in bytes. Both limits keep replies small, but still allow the server to report
/// misspelt fields.
const IGNORED_MAX: usize = 8;
const IGNORED_BYTES_MAX: usize = 64;

/// Initial capacity of the list of fields. Most requests have at most this many fields.
const TYPICAL_FIELD_COUNT: usize = 8;

/// Fields of a request that have not been parsed yet.
///
/// A `null` field is treated as absent. The values of unknown fields are never parsed. If a name
/// occurs more than once, only the last field with this name is used.
pub(super) struct Fields<'a>(Vec<(FieldName<'a>, &'a RawValue)>);

/// Name of a field. The name borrows from the message, unless it contains escapes.
#[derive(Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

impl Fields<'_> {
    pub(super) fn optional<T>(
        &mut self,
        field: &'static str,
        parser: FieldParser<T>,
    ) -> Result<Option<T>, BadField> {
        let last = self.0.iter().rposition(|(name, _)| name.0 == field);
        let Some(last) = last else {
            return Ok(None);
        };
        let (_, value) = self.0.remove(last);
        if last > 0 {
            self.0.retain(|(name, _)| name.0 != field);
        }
        match value.get() {
            "null" => Ok(None),
            json => match (parser.parse)(json) {
                None => Err(BadField::new(field, parser.expected)),
                value => Ok(value),
            },
        }
    }

    pub(super) fn required<T>(
        &mut self,
        field: &'static str,
        parser: FieldParser<T>,
    ) -> Result<T, BadField> {
        let expected = parser.expected;
        self.optional(field, parser)?
            .ok_or(BadField { field, expected })
    }

    /// Returns the names of the remaining fields, which the request does not use. The list leaves
    /// out `null` fields and names longer than `IGNORED_BYTES_MAX`. The list contains at most
    /// `IGNORED_MAX` names.
    pub(super) fn into_ignored_names(self) -> Vec<String> {
        let remaining = self.0.into_iter().map(|(name, value)| (name.0, value));
        let remaining = remaining.collect::<BTreeMap<_, _>>().into_iter();
        let remaining = remaining
            .filter(|(name, value)| value.get() != "null" && name.len() <= IGNORED_BYTES_MAX);
        let names = remaining.map(|(name, _)| name.into_owned());
        names.take(IGNORED_MAX).collect()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Deserialises the fields of a JSON object without parsing their values.
struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(TYPICAL_FIELD_COUNT);
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}
