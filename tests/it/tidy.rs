//! What no compiler checks: the floors of the house, and that the protocol's page is complete.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plyhouse::protocol::{ClientMessage, CloseCode, ErrorCode, Event, ServerMessage};

/// The floor of each module, as `src/ARCHITECTURE.md` tells. A module names only lower floors.
const FLOORS: [(&str, u8); 18] = [
    ("game", 0),
    ("protocol", 0),
    ("tally", 0),
    ("search", 1),
    ("catalog", 2),
    ("matches", 3),
    ("tournament", 3),
    ("scoresheet", 4),
    ("store", 4),
    ("server", 5),
    ("transport", 6),
    ("main", 7),
    ("commands", 7),
    ("args", 7),
    ("logs", 6),
    ("service", 6),
    ("data", 6),
    // Beside the house: what clients are built on.
    ("client", 1),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
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
        .chain(folders.iter().flat_map(|folder| rust_files(folder)))
        .collect()
}

/// The modules of the crate that a source text names.
fn named(text: &str) -> Vec<&str> {
    let starts = text
        .match_indices("crate::")
        .map(|(at, path)| &text[at + path.len()..]);
    starts
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(group) => group
                .split('}')
                .next()
                .unwrap_or(group)
                .split(',')
                .collect(),
            None => vec![rest],
        })
        .map(|path| {
            path.trim()
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .next()
        })
        .map(Option::unwrap_or_default)
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn a_module_names_only_lower_floors() {
    let floors = BTreeMap::from(FLOORS);
    let mut checked = 0;
    for path in rust_files(&root().join("src")) {
        let inside = path.strip_prefix(root().join("src")).expect("below src");
        let module = inside
            .iter()
            .next()
            .and_then(|name| name.to_str())
            .expect("a name");
        let module = module.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = floors
            .get(module)
            .unwrap_or_else(|| panic!("{module} has no floor"));
        let text = fs::read_to_string(&path).expect("readable");
        for name in named(&text).into_iter().filter(|name| *name != module) {
            let floor = floors
                .get(name)
                .unwrap_or_else(|| panic!("{name} has no floor"));
            assert!(
                floor < own,
                "{} names {name}, which is not below it",
                inside.display()
            );
            checked += 1;
        }
    }
    assert!(
        checked > 50,
        "only {checked} names were found: the reader is broken"
    );
}

/// Above the catalog all games look alike.
#[test]
fn no_upper_floor_names_a_game() {
    for path in rust_files(&root().join("src")) {
        let inside = path.strip_prefix(root().join("src")).expect("below src");
        let inside = inside.to_str().expect("UTF-8");
        let is_upper = [
            "matches",
            "tournament",
            "scoresheet",
            "store",
            "server",
            "transport",
        ]
        .iter()
        .any(|module| inside.starts_with(module));
        if !is_upper || inside.ends_with("tests.rs") {
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
fn every_message_and_code_has_its_place_in_the_protocol() {
    let page = read("src/protocol/PROTOCOL.md");
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

#[test]
fn no_test_file_is_forgotten() {
    let tests = root().join("tests/it");
    for path in rust_files(&tests) {
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
            name == "main" || read(above).contains(&format!("mod {name};")),
            "{name} is never run"
        );
    }
}

#[test]
fn the_architecture_tells_the_floors() {
    let page = read("src/ARCHITECTURE.md");
    for (module, floor) in FLOORS
        .into_iter()
        .filter(|(module, _)| !["args", "client"].contains(module))
    {
        let row = page
            .lines()
            .find(|line| line.starts_with('|') && line.contains(&format!("`{module}`")));
        let row = row.unwrap_or_else(|| panic!("{module} is not in the table"));
        assert!(
            row.starts_with(&format!("| {floor} ")),
            "{module} is on another floor: {row}"
        );
    }
}
