//! Traits that a store implements, one per aggregate. The server accesses its store only through
//! these traits.

#![warn(missing_docs)]

pub(crate) mod admin_queue;
pub(crate) mod archive;
pub mod cluster_directory;
pub(crate) mod commands;
pub(crate) mod delegation;
pub(crate) mod identity;
pub(crate) mod inspection;
pub(crate) mod journal;
pub(crate) mod ratings;
pub(crate) mod store;
