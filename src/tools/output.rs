//! Reports and progress bars of the commands.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Prints a report to stdout, as text or as a JSON object.
pub(crate) fn print_report(report: &(impl Serialize + Display), json: bool) -> anyhow::Result<()> {
    let text = if json {
        serde_json::to_string(report).context("cannot write the report as JSON")?
    } else {
        report.to_string()
    };
    print_line(text.trim_end())
}

/// Prints a line to stdout.
pub(crate) fn print_line(line: &str) -> anyhow::Result<()> {
    writeln!(io::stdout(), "{line}").context("cannot write to stdout")
}

/// Creates a progress bar on stderr. The bar is hidden if stderr is not a terminal.
pub(crate) fn progress_bar(games: usize, template: &str) -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template(template).context("cannot draw the progress bar")?;
    Ok(ProgressBar::new(games as u64).with_style(style))
}
