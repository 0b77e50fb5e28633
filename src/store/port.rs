//! The traits that a store implements: the server works through these alone.

#![warn(missing_docs)]

pub(crate) mod admin_queue;
pub mod cluster_directory;
pub(crate) mod inspection;
pub(crate) mod store;
