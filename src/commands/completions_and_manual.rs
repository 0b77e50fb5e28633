//! `plyhouse completions` and `plyhouse manual`: generate shell completions and manual pages from
//! the command-line definition.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::CommandLine;

/// Prints a completion script for a shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut CommandLine::command(),
            "plyhouse",
            &mut script,
        );
        Ok(std::io::stdout().write_all(&script)?)
    }
}

/// Writes the manual pages: `plyhouse.1`, and one for each command.
#[derive(Debug, clap::Args)]
pub(crate) struct Manual {
    /// Where to. It is made if it is not there
    directory: PathBuf,
}

impl Manual {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let directory = &self.directory;
        let written = std::fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(CommandLine::command(), directory));
        written.with_context(|| format!("cannot write to {}", directory.display()))
    }
}
