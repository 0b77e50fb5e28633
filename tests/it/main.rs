//! The whole server from outside, in one binary: most tests run it in process, over pipes in memory
//! and with time paused, so that a minute of waiting takes no time; a few use real sockets and the
//! real process. Tests wait for events and never sleep.

mod failing;
mod support;

mod abandonment;
mod accounts;
mod analyse;
mod archive;
mod blocks;
mod bots;
mod challenges;
mod clocks;
mod closing;
mod cluster;
mod contests;
mod crash;
mod days;
mod delays;
mod disk;
mod dormant;
mod engine;
mod forgetting;
mod frames;
mod fuzz;
mod hello;
mod history;
mod hostile;
mod limits;
mod links;
mod lobby;
mod matches;
mod offers;
mod older;
mod operator;
mod programs;
mod proxied;
mod ratings;
mod recorded;
mod recovery;
mod rematch;
mod requests;
mod resync;
mod scoresheets;
mod seek;
mod sessions;
mod sim;
mod socket;
mod stand_ins;
mod store_failure;
mod tidy;
mod tls;
mod tournament;
mod watched_lists;
mod watching;
mod words;
