//! Parameters and columns of shared statements.

use std::error::Error;

use bytes::BytesMut;
use plyhouse_engine::game::Seat;
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use uuid::Uuid;

use super::InvalidColumn;
use crate::{CommandId, PasswordHash, TokenHash};

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
        match self.0.get(index) {
            Some(Column::Text(text)) => Ok(text),
            _ => Err(InvalidColumn(index)),
        }
    }
}

/// A type that a column can be read as. Returns `None` if the column has another type.
pub(crate) trait FromColumn: Sized {
    fn from_column(column: &Column) -> Option<Self>;
}

impl FromColumn for i64 {
    fn from_column(column: &Column) -> Option<Self> {
        match column {
            Column::Int(number) => Some(*number),
            _ => None,
        }
    }
}

impl FromColumn for u64 {
    fn from_column(column: &Column) -> Option<Self> {
        Self::try_from(i64::from_column(column)?).ok()
    }
}

impl FromColumn for Seat {
    fn from_column(column: &Column) -> Option<Self> {
        Self::from_number(u8::try_from(i64::from_column(column)?).ok()?)
    }
}

impl FromColumn for f64 {
    fn from_column(column: &Column) -> Option<Self> {
        match column {
            Column::Float(number) => Some(*number),
            _ => None,
        }
    }
}

impl FromColumn for bool {
    fn from_column(column: &Column) -> Option<Self> {
        match column {
            Column::Bool(flag) => Some(*flag),
            // SQLite has no Boolean type.
            Column::Int(number) => Some(*number != 0),
            _ => None,
        }
    }
}

impl FromColumn for String {
    fn from_column(column: &Column) -> Option<Self> {
        match column {
            Column::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromColumn for Uuid {
    fn from_column(column: &Column) -> Option<Self> {
        match column {
            Column::Id(id) => Some(*id),
            // SQLite stores ids as 16 bytes.
            Column::Bytes(bytes) => Self::from_slice(bytes).ok(),
            _ => None,
        }
    }
}

impl FromColumn for TokenHash {
    fn from_column(column: &Column) -> Option<Self> {
        match column {
            Column::Bytes(bytes) => bytes.as_slice().try_into().ok().map(Self),
            _ => None,
        }
    }
}

impl FromColumn for PlayerId {
    fn from_column(column: &Column) -> Option<Self> {
        Uuid::from_column(column).map(Self)
    }
}

impl FromColumn for SessionId {
    fn from_column(column: &Column) -> Option<Self> {
        Uuid::from_column(column).map(Self)
    }
}

impl FromColumn for MatchId {
    fn from_column(column: &Column) -> Option<Self> {
        Uuid::from_column(column).map(Self)
    }
}

impl FromColumn for CommandId {
    fn from_column(column: &Column) -> Option<Self> {
        Uuid::from_column(column).map(Self)
    }
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
