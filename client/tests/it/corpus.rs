//! `ply … --position` reads positions in the style of other programs. The values come from other libraries: see
//! `tests/data/corpus/expected.py`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::fake::Home;
use crate::real::Real;

/// A file with a position in each line.
#[derive(Debug, Deserialize)]
struct Entry {
    file: PathBuf,
    game: String,
    #[serde(default)]
    position: Vec<Expected>,
}

/// The position with which the match begins, or part of the message with which the server refuses it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expected {
    Refused { refused: String },
    Position { position: String },
}

/// The lines of a file that are neither empty nor comments.
fn lines_of(text: &str) -> Vec<&str> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '%']))
        .collect()
}

#[test]
fn matches_begin_with_positions_of_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/corpus");
    let entries = fs::read_to_string(folder.join("expected.json")).expect("the manifest");
    let entries: Vec<Entry> = serde_json::from_str(&entries).expect("the manifest is JSON");
    let (server, home) = (Real::start(), Home::new());
    let (mut faults, mut count) = (Vec::new(), 0);
    for entry in entries.iter().filter(|entry| !entry.position.is_empty()) {
        let text = fs::read_to_string(folder.join(&entry.file)).expect("the file is UTF-8");
        let lines = lines_of(&text);
        assert_eq!(
            lines.len(),
            entry.position.len(),
            "{}",
            entry.file.display()
        );
        for (line, expected) in lines.iter().zip(&entry.position) {
            let play = ["play", &entry.game, "--bot", "beginner", "--json"];
            let ran = home.run(
                &server.url,
                &[&play[..], &["--position", line]].concat(),
                "resign\n",
            );
            let is_right = match expected {
                Expected::Refused { refused } => ran.code == Some(4) && ran.err.contains(refused),
                Expected::Position { position } => {
                    ran.out.contains(&format!("\"start\":\"{position}\""))
                }
            };
            if !is_right {
                let start = ran.out.split("\"start\":").nth(1).unwrap_or_default();
                let start = start.split(',').next().unwrap_or_default();
                let fault = format!("{line}: {start} {}", ran.err.trim());
                faults.push(format!("{}: {fault}", entry.file.display()));
            }
            count += 1;
        }
    }
    assert!(count >= 25, "{count} positions");
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
