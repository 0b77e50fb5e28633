//! Parameters and columns of shared statements.

use std::error::Error;

use bytes::BytesMut;
use plyhouse_engine::game::Seat;
use plyhouse_matches::Participation;
use plyhouse_matches::ratings::{
    AbortPenalties, LedgerRow, PairHistory, PlayerRatingChange, Rating, RatingEntry, RatingKey,
};
use plyhouse_protocol::{MatchId, PlayerId, PlayerKind, RatingPool, SessionId, SessionKind};
use rusqlite::types::{ToSqlOutput, ValueRef};
use serde::de::DeserializeOwned;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use uuid::Uuid;

use super::InvalidColumn;
use crate::cluster_directory::MatchRoute;
use crate::{
    CommandId, NodeId, OneTimeToken, PasswordHash, PlayerRecord, SessionRecord, StoredAnalysis,
    Tally, TokenHash, UniqueName,
};

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(&'a str),
    Bytes(&'a [u8]),
    Id(Uuid),
    /// Only PostgreSQL has arrays.
    Array(&'a [Self]),
}

/// Converts the elements of an array parameter.
pub(crate) fn to_values<'a, T: Into<Value<'a>>>(
    elements: impl IntoIterator<Item = T>,
) -> Vec<Value<'a>> {
    elements.into_iter().map(Into::into).collect()
}

macro_rules! value_from {
    ($($source:ty: $name:ident => $value:expr;)*) => {
        $(impl<'a> From<$source> for Value<'a> {
            fn from($name: $source) -> Self {
                $value
            }
        })*
    };
}

value_from! {
    i64: number => Self::Int(number);
    u64: number => Self::Int(i64::try_from(number).unwrap_or(i64::MAX));
    usize: number => Self::Int(i64::try_from(number).unwrap_or(i64::MAX));
    f64: number => Self::Float(number);
    bool: flag => Self::Bool(flag);
    &'a str: text => Self::Text(text);
    &'a String: text => Self::Text(text);
    &'a PasswordHash: hash => Self::Text(&hash.0);
    &'a TokenHash: hash => Self::Bytes(&hash.0);
    Seat: seat => Self::Int(seat.number().into());
    PlayerId: id => Self::Id(id.0);
    SessionId: id => Self::Id(id.0);
    MatchId: id => Self::Id(id.0);
    CommandId: id => Self::Id(id.0);
    NodeId: id => Self::Id(id.0);
}

impl<'a, T: Into<Self>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Self::Float(number) => ToSqlOutput::Borrowed(ValueRef::Real(*number)),
            Self::Bool(flag) => ToSqlOutput::Borrowed(ValueRef::Integer((*flag).into())),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Id(id) => ToSqlOutput::Borrowed(ValueRef::Blob(id.as_bytes())),
            Self::Array(_) => unreachable!("statements for SQLite have no arrays"),
        })
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *ty == Type::INT2 => i16::try_from(*number)?.to_sql(ty, out),
            Self::Int(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Self::Int(number) => number.to_sql_checked(ty, out),
            Self::Float(number) => number.to_sql_checked(ty, out),
            Self::Bool(flag) => flag.to_sql_checked(ty, out),
            Self::Text(text) => text.to_sql_checked(ty, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(ty, out),
            Self::Id(id) => id.to_sql_checked(ty, out),
            Self::Array(elements) => elements.to_sql_checked(ty, out),
        }
    }

    fn accepts(_ty: &Type) -> bool {
        // `to_sql` checks the type, because it depends on the value.
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// A column of a row.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
    Id(Uuid),
}

/// A row of a query.
#[derive(Clone, Debug)]
pub struct Row(pub(crate) Vec<Column>);

impl Row {
    /// Reads a column.
    pub(crate) fn get<T: FromColumn>(&self, index: usize) -> Result<T, InvalidColumn> {
        let column = self.0.get(index);
        column.and_then(T::from_column).ok_or(InvalidColumn(index))
    }

    /// Reads a column that contains text.
    pub(crate) fn text(&self, index: usize) -> Result<&str, InvalidColumn> {
        let text = self.0.get(index).and_then(Column::as_text);
        text.ok_or(InvalidColumn(index))
    }

    /// Reads a value from the first columns.
    pub(crate) fn read<T: FromColumns>(&self) -> Result<T, InvalidColumn> {
        Columns { row: self, next: 0 }.next()
    }
}

/// Reads the columns of a row in order.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    row: &'a Row,
    next: usize,
}

impl Columns<'_> {
    /// Reads a value from the next columns.
    pub(crate) fn next<T: FromColumns>(&mut self) -> Result<T, InvalidColumn> {
        T::from_columns(self)
    }
}

/// A type that is read from one or more columns.
pub(crate) trait FromColumns: Sized {
    fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn>;
}

impl<T: FromColumn> FromColumns for T {
    fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn> {
        let index = columns.next;
        columns.next += 1;
        columns.row.get(index)
    }
}

impl<A: FromColumns, B: FromColumns> FromColumns for (A, B) {
    fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn> {
        Ok((columns.next()?, columns.next()?))
    }
}

impl<A: FromColumns, B: FromColumns, C: FromColumns> FromColumns for (A, B, C) {
    fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn> {
        Ok((columns.next()?, columns.next()?, columns.next()?))
    }
}

impl<T: FromColumns> FromColumns for [T; 2] {
    fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn> {
        Ok([columns.next()?, columns.next()?])
    }
}

/// Implements [`FromColumns`] for structs whose fields are stored in columns of the given order.
macro_rules! from_columns {
    ($($record:ident { $($field:ident),+ })+) => {
        $(impl FromColumns for $record {
            fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn> {
                Ok(Self { $($field: columns.next()?),+ })
            }
        })+
    };
}

from_columns! {
    MatchRoute { owner, is_lease_valid, epoch, has_ended }
    OneTimeToken { player, expires_ms }
    Participation { player, seat, substituted_seat, correspondence_turn, absent_since_ms }
    PlayerRatingChange { seat, key, before, after }
    PlayerRecord { id, name, kind }
    Rating { rating, deviation, volatility }
    RatingEntry { rating, games, last_ms }
    RatingKey { player, game, pool }
    SessionRecord { token, id, player, label, kind, created_ms, last_used_day, from_recovery_key }
    StoredAnalysis { nodes, text }
    Tally { matches, wins, draws }
    UniqueName { skeleton, reserved_until_ms }
}

/// A type that a column can be read as. Returns `None` if the column has another type.
pub(crate) trait FromColumn: Sized {
    fn from_column(column: &Column) -> Option<Self>;
}

impl Column {
    const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn as_id(&self) -> Option<Uuid> {
        match self {
            Self::Id(id) => Some(*id),
            // SQLite stores ids as 16 bytes.
            Self::Bytes(bytes) => Uuid::from_slice(bytes).ok(),
            _ => None,
        }
    }

    /// Returns the value that has the column's text as its name.
    fn as_named<T: Copy>(&self, values: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
        let text = self.as_text()?;
        values.iter().copied().find(|value| name(*value) == text)
    }

    fn as_json<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.as_text()?).ok()
    }
}

/// Implements [`FromColumn`] for each type by an expression that reads a column.
macro_rules! from_column {
    ($($target:ty: $column:ident => $value:expr;)*) => {
        $(impl FromColumn for $target {
            fn from_column($column: &Column) -> Option<Self> {
                $value
            }
        })*
    };
}

from_column! {
    i64: column => column.as_int();
    i32: column => column.as_int()?.try_into().ok();
    u64: column => column.as_int()?.try_into().ok();
    usize: column => column.as_int()?.try_into().ok();
    Seat: column => Self::from_number(column.as_int()?.try_into().ok()?);
    f64: column => match column {
        Column::Float(number) => Some(*number),
        _ => None,
    };
    bool: column => match column {
        Column::Bool(flag) => Some(*flag),
        // SQLite has no Boolean type.
        _ => Some(column.as_int()? != 0),
    };
    String: column => column.as_text().map(str::to_owned);
    TokenHash: column => match column {
        Column::Bytes(bytes) => bytes.as_slice().try_into().ok().map(Self),
        _ => None,
    };
    PlayerId: column => column.as_id().map(Self);
    SessionId: column => column.as_id().map(Self);
    MatchId: column => column.as_id().map(Self);
    CommandId: column => column.as_id().map(Self);
    NodeId: column => column.as_id().map(Self);
    PlayerKind: column => match column {
        Column::Null => Some(Self::Guest),
        // The database contains only kinds that this program knows.
        _ if column.as_text()? == "bot" => Some(Self::Bot),
        _ => Some(Self::Account),
    };
    SessionKind: column => column.as_named(Self::ALL, Self::as_str);
    RatingPool: column => column.as_named(Self::ALL, Self::as_str);
    LedgerRow: column => column.as_json();
    PairHistory: column => column.as_json();
    AbortPenalties: column => column.as_json();
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(column: &Column) -> Option<Self> {
        match column {
            Column::Null => Some(None),
            column => T::from_column(column).map(Some),
        }
    }
}

impl From<ValueRef<'_>> for Column {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Real(number) => Self::Float(number),
            ValueRef::Integer(number) => Self::Int(number),
            // Invalid text becomes bytes, so that reading it as text fails.
            ValueRef::Text(text) => match String::from_utf8(text.to_vec()) {
                Ok(text) => Self::Text(text),
                Err(invalid) => Self::Bytes(invalid.into_bytes()),
            },
            ValueRef::Blob(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }
}

impl<'a> FromSql<'a> for Column {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *ty {
            Type::INT2 => Self::Int(i16::from_sql(ty, raw)?.into()),
            Type::INT4 => Self::Int(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => Self::Int(i64::from_sql(ty, raw)?),
            Type::FLOAT8 => Self::Float(f64::from_sql(ty, raw)?),
            Type::BOOL => Self::Bool(bool::from_sql(ty, raw)?),
            Type::BYTEA => Self::Bytes(raw.to_vec()),
            Type::UUID => Self::Id(Uuid::from_sql(ty, raw)?),
            _ => Self::Text(String::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_ty: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(
            *ty,
            Type::INT2
                | Type::INT4
                | Type::INT8
                | Type::FLOAT8
                | Type::BOOL
                | Type::BYTEA
                | Type::UUID
        ) || <String as FromSql<'_>>::accepts(ty)
    }
}
