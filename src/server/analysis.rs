//! Analysis of ended matches: the queue, the runs on the search threads, and their results.

pub(crate) mod progress;
pub(crate) mod queue;
mod run;
pub(crate) mod start_and_stream;
pub(crate) mod wire;
