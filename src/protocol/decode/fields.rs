//! Fields of a request that have not been parsed yet, in their original order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::BadField;
use super::field_parsers::FieldParser;
use super::plain_object::split_plain_object;

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
pub(super) struct Fields<'a>(Vec<Field<'a>>);

/// Name of a field, and its value as JSON. The name borrows from the message, unless it contains
/// escapes.
type Field<'a> = (Cow<'a, str>, &'a str);

/// Deserialises the name of a field.
#[derive(Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Fields<'a> {
    /// Splits a request into its fields, without parsing their values.
    pub(super) fn split(text: &'a str) -> serde_json::Result<Self> {
        let mut fields = Vec::with_capacity(TYPICAL_FIELD_COUNT);
        // `split_plain_object` is several times as fast as serde_json.
        if split_plain_object(text, |name, value| {
            fields.push((Cow::Borrowed(name), value))
        }) {
            return Ok(Self(fields));
        }
        serde_json::from_str(text)
    }

    /// Removes a field. Returns its JSON value, or `None` if the request has no such field.
    pub(super) fn take(&mut self, field: &str) -> Option<&'a str> {
        let last = self.0.iter().rposition(|(name, _)| name == field)?;
        let (_, value) = self.0.remove(last);
        if last > 0 {
            self.0.retain(|(name, _)| name != field);
        }
        Some(value)
    }

    pub(super) fn optional<T>(
        &mut self,
        field: &'static str,
        parser: FieldParser<T>,
    ) -> Result<Option<T>, BadField> {
        match self.take(field) {
            None | Some("null") => Ok(None),
            Some(json) => match (parser.parse)(json) {
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
        if self.0.is_empty() {
            return Vec::new();
        }
        let remaining = self.0.into_iter().collect::<BTreeMap<_, _>>().into_iter();
        let remaining =
            remaining.filter(|(name, value)| *value != "null" && name.len() <= IGNORED_BYTES_MAX);
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
        while let Some((FieldName(name), value)) = map.next_entry::<_, &RawValue>()? {
            fields.push((name, value.get()));
        }
        Ok(Fields(fields))
    }
}
