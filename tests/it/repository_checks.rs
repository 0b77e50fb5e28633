//! Checks of the repository that the compiler cannot make. For example, the crates above the game
//! catalog must not name a game, and the protocol documentation must be complete.

use std::fs;
use std::path::{Path, PathBuf};

use plyhouse_protocol::{ClientMessage, CloseCode, ErrorCode, Event, ServerMessage};

fn repository_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read_file(path: impl AsRef<Path>) -> String {
    let path = repository_root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn find_rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry"));
    let (folders, files): (Vec<_>, Vec<_>) = entries
        .map(|entry| entry.path())
        .partition(|path| path.is_dir());
    let files = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"));
    files
        .chain(folders.iter().flat_map(|folder| find_rust_files(folder)))
        .collect()
}

/// The crates above the game catalog must treat all games alike, so they name no game.
#[test]
fn upper_layers_name_no_game() {
    for path in find_rust_files(&repository_root().join("src")) {
        let inside = path
            .strip_prefix(repository_root().join("src"))
            .expect("below src");
        let inside = inside.to_str().expect("UTF-8");
        let is_upper = ["matches", "store", "server", "transport"]
            .iter()
            .any(|folder| inside.starts_with(folder));
        if !is_upper || inside.ends_with("tests.rs") || inside.contains("/tests/") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable");
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        for (line, code) in code.enumerate() {
            assert!(
                !code.contains("tic-tac-toe") && !code.contains("TicTacToe"),
                "{inside}:{line}: {code}"
            );
        }
    }
}

#[test]
fn protocol_page_documents_every_message_and_code() {
    let page = read_file("src/protocol/PROTOCOL.md");
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("##")).collect();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    let has = |lines: &[&str], name: &str| {
        let name = format!("`{name}`");
        lines.iter().any(|line| line.contains(&name))
    };
    for kind in ClientMessage::TYPES {
        assert!(has(&headings, kind), "the request {kind} has no section");
    }
    for kind in ServerMessage::TYPES
        .into_iter()
        .filter(|kind| !["error", "presence"].contains(kind))
    {
        assert!(has(&headings, kind), "the answer {kind} is in no heading");
    }
    for kind in ["error", "presence"] {
        assert!(
            page.contains(&format!(r#""type":"{kind}""#)),
            "{kind} is not shown"
        );
    }
    for kind in Event::TYPES {
        assert!(has(&rows, kind), "the event {kind} has no row");
    }
    for code in ErrorCode::ALL {
        let row = rows.iter().find(|row| row.contains(&format!("`{code}`")));
        let row = row.unwrap_or_else(|| panic!("the error {code} has no row"));
        let retryable = row.trim_end_matches([' ', '|']).ends_with("yes");
        assert_eq!(retryable, code.retryable(), "{code}");
    }
    let close_rows = rows
        .iter()
        .filter(|row| row.starts_with("| 1") || row.starts_with("| 4"));
    let close_rows = close_rows.copied().collect::<Vec<_>>().join("\n");
    for code in CloseCode::ALL {
        assert!(
            close_rows.contains(&code.number().to_string()),
            "{code:?} has no row"
        );
    }
}

/// The example positions in the protocol documentation must have the form that the server sends.
#[test]
fn protocol_page_positions_match_the_server_format() {
    let page = read_file("src/protocol/PROTOCOL.md");
    let mut complete = 0;
    for game in &plyhouse_engine::catalog::CATALOG {
        let name = format!("| `{}`", game.info.id);
        let row = page.lines().find(|line| line.starts_with(&name));
        let row = row.unwrap_or_else(|| panic!("{name} has no row"));
        let examples = row.rsplit(" | ").next().expect("a column").split('`');
        // An example with an ellipsis is abbreviated, so the test skips it.
        let examples = examples
            .skip(1)
            .step_by(2)
            .filter(|text| !text.contains('\u{2026}'));
        for example in examples {
            if let Ok(position) = game.parse_initial_position(example) {
                assert_eq!(position.to_string(), example, "{name}");
                complete += 1;
            }
        }
    }
    assert!(complete >= 3, "{complete}");
}

#[test]
fn every_test_file_is_declared_as_a_module() {
    let tests = repository_root().join("tests/it");
    for path in find_rust_files(&tests) {
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name");
        let folder = path.parent().expect("a folder");
        let above = if folder == tests {
            tests.join("main.rs")
        } else {
            folder.with_extension("rs")
        };
        assert!(
            name == "main" || read_file(above).contains(&format!("mod {name};")),
            "{name} is not declared as a module"
        );
    }
}
