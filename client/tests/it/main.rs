//! Integration tests that run `ply` as a process, against a scripted server and against a complete
//! Plyhouse server.

#[cfg(test)]
mod accounts_and_ratings;
#[cfg(test)]
mod bot_command;
#[cfg(test)]
mod config;
#[cfg(test)]
mod device_login;
#[cfg(test)]
mod file_compatibility;
mod full_screen;
mod history;
#[cfg(test)]
mod position_notations;
mod raw_and_list_commands;
#[cfg(test)]
mod real_server;
#[cfg(test)]
mod scripted_server;
mod scripted_server_matches;
#[cfg(test)]
mod tls;
mod usage;
