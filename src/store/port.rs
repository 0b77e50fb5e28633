//! Traits that a store implements. The server accesses its store only through these traits.

#![warn(missing_docs)]

pub(crate) mod admin_queue;
pub mod cluster_directory;
pub(crate) mod inspection;
pub(crate) mod store;
