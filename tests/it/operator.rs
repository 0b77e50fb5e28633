//! What the operator sees: the signs of the server, its metrics, its log, and what the service
//! manager is told.

mod accounts;
mod help;
mod log;
mod manager;
mod metrics;
mod moving;
mod signs;
