//! Conversion between the server's types and the protocol's messages.

#[cfg(test)]
pub(crate) mod compat_fixtures;
pub(crate) mod encode;
pub(crate) mod error_replies;
pub(crate) mod from_protocol;
pub(crate) mod to_protocol;
