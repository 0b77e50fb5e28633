//! What the operator sees: the signs of the server, its metrics, its log, and what the service
//! manager is told.

mod account_command;
mod cli_docs;
mod health;
mod logging;
mod metrics;
mod move_store_command;
mod service_manager;
