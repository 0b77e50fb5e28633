//! Conversion between the server's types and the protocol's messages.

pub(crate) mod encode;
pub(crate) mod error_replies;
#[cfg(test)]
pub(crate) mod fixtures;
pub(crate) mod from_protocol;
pub(crate) mod to_protocol;
