//! `ply`: play on a Plyhouse server from a terminal.
fn main() {}
