//! `plyhouse completions` and `plyhouse manual`: generate shell completions and manual pages from
//! the command-line definition.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::CommandLine;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// Shell to generate the script for
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

/// Write the manual pages to a directory
///
/// Writes `plyhouse.1` and one page for each command.
#[derive(Debug, clap::Args)]
pub(crate) struct Manual {
    /// Output directory (created if missing)
    directory: PathBuf,
}

impl Manual {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let directory = &self.directory;
        let written = std::fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(CommandLine::command(), directory));
        written.with_context(|| format!("cannot write manual pages to {}", directory.display()))
    }
}
