//! `ply` as a process: its arguments, its exit codes, and whole matches against a scripted
//! server and against the real one.

#[cfg(test)]
mod bot;
#[cfg(test)]
mod config;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod devices;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fixtures;
mod matches;
mod past;
#[cfg(test)]
mod people;
mod raw;
#[cfg(test)]
mod real;
mod screen;
#[cfg(test)]
mod tls;
mod usage;
