//! `ply` as a process: its arguments, its exit codes, and whole matches against a scripted server.

#[cfg(test)]
mod fake;
mod matches;
mod raw;
mod usage;
