//! Groups of commands in `ply --help`.

use plyhouse_cli::ProgramHelp;

pub(crate) const PROGRAM_HELP: ProgramHelp = ProgramHelp {
    usage: "ply <COMMAND> [OPTIONS]",
    groups: &[
        ("Play", &["play", "join", "watch", "list", "games", "bot"]),
        (
            "Finished games and players",
            &["history", "show", "analyse", "profile", "leaders"],
        ),
        (
            "Account and devices",
            &[
                "register", "login", "logout", "password", "rename", "pair", "devices", "recovery",
                "key", "forget", "block", "unblock", "blocked",
            ],
        ),
        ("Tools", &["raw", "completions", "manual"]),
    ],
    main_options: &[],
};

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Arguments;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Arguments::command();
        PROGRAM_HELP.check(&command);
    }
}
