//! Tests of the operator's interfaces: commands, health checks, metrics, the log and the messages
//! to the service manager.

mod account_command;
mod completions_and_man_pages;
mod health;
mod logging;
mod metrics;
mod move_store_command;
mod service_manager;
