//! Tests that `--position` accepts the notations of other programs. The expected values come from
//! other libraries: see `tests/data/corpus/expected.py`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::real_server::RealServer;
use crate::scripted_server::PlyHome;

/// Corpus file that contains one position per line. `position` lists the expected result for each
/// line.
#[derive(Debug, Deserialize)]
struct CorpusFile {
    file: PathBuf,
    game: String,
    #[serde(default)]
    position: Vec<ExpectedPosition>,
}

/// Expected initial position of the match, or expected part of the server's error message.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ExpectedPosition {
    Refused { refused: String },
    Position { position: String },
}

/// Returns the lines of a file that are neither empty nor comments.
fn position_lines(text: &str) -> Vec<&str> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '%']))
        .collect()
}

#[test]
fn matches_start_from_corpus_positions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/corpus");
    let entries = fs::read_to_string(folder.join("expected.json")).expect("the manifest");
    let entries: Vec<CorpusFile> = serde_json::from_str(&entries).expect("the manifest is JSON");
    let (server, home) = (RealServer::start(), PlyHome::new());
    let (mut failures, mut count) = (Vec::new(), 0);
    for entry in entries.iter().filter(|entry| !entry.position.is_empty()) {
        let text = fs::read_to_string(folder.join(&entry.file)).expect("the file is UTF-8");
        let lines = position_lines(&text);
        assert_eq!(
            lines.len(),
            entry.position.len(),
            "{}",
            entry.file.display()
        );
        for (line, expected) in lines.iter().zip(&entry.position) {
            let play = ["play", &entry.game, "--bot", "beginner", "--json"];
            let output = home.run(
                &server.url,
                &[&play[..], &["--position", line]].concat(),
                "resign\n",
            );
            let is_expected = match expected {
                ExpectedPosition::Refused { refused } => {
                    output.exit_code == Some(4) && output.stderr.contains(refused)
                }
                ExpectedPosition::Position { position } => {
                    output.stdout.contains(&format!("\"start\":\"{position}\""))
                }
            };
            if !is_expected {
                let start = output.stdout.split("\"start\":").nth(1).unwrap_or_default();
                let start = start.split(',').next().unwrap_or_default();
                let failure = format!("{line}: {start} {}", output.stderr.trim());
                failures.push(format!("{}: {failure}", entry.file.display()));
            }
            count += 1;
        }
    }
    assert!(count >= 25, "{count} positions");
    assert!(
        failures.is_empty(),
        "{} faults:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
