//! Runs the fuzz targets as tests, on their corpus, on mutations of the corpus and on random bytes.
//! Each target runs 256 generated cases, or the number in `PROPTEST_CASES`.
//!
//! The command `cargo install cargo-fuzz` installs the separate fuzzer, which needs a nightly
//! compiler. The following commands run the fuzzer and store new inputs outside the repository's
//! corpus:
//!
//! ```text
//! mkdir -p target/corpus/notation
//! cargo +nightly fuzz run --fuzz-dir tests/fuzz notation target/corpus/notation tests/fuzz/corpus/notation
//! ```

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{FileFailurePersistence, TestRunner};

#[path = "../fuzz/targets.rs"]
mod targets;

/// File with inputs that failed in earlier runs. The tests run these inputs before newly generated
/// ones.
const REGRESSIONS_FILE: &str = "tests/fuzz/regressions.txt";

#[test]
fn requests() {
    run_target("request", targets::request);
}

#[test]
fn notation() {
    run_target("notation", targets::notation);
}

#[test]
fn actions() {
    run_target("actions", targets::actions);
}

#[test]
fn rows() {
    run_target("rows", targets::rows);
}

fn run_target(name: &str, target: fn(&[u8])) {
    let seeds = read_corpus(name);
    for seed in &seeds {
        target(seed);
    }
    let config = ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(REGRESSIONS_FILE))),
        source_file: Some(file!()),
        ..ProptestConfig::default()
    };
    let result = TestRunner::new(config).run(&input_strategy(seeds), |input| {
        target(&input);
        Ok(())
    });
    // The error message contains the smallest input that still fails.
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
}

fn read_corpus(name: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = fs::read_dir(root.join("tests/fuzz/corpus").join(name)).expect("a corpus");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    assert!(paths.len() > 5, "the corpus of {name} is missing");
    paths
        .iter()
        .map(|path| fs::read(path).expect("readable"))
        .collect()
}

/// Generates either random bytes or a corpus input with at most five edits.
fn input_strategy(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let changed = (select(seeds.clone()), vec(edit_strategy(seeds), 0..6));
    let changed = changed.prop_map(|(mut bytes, edits)| {
        edits.into_iter().for_each(|edit| edit.apply(&mut bytes));
        bytes
    });
    prop_oneof![1 => vec(any::<u8>(), 0..600), 4 => changed]
}

/// Single edit that mutates an input.
#[derive(Clone, Debug)]
enum Edit {
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index, Index),
    /// Replaces a byte range with a byte range from another corpus input.
    Splice(Index, Vec<u8>, Index, Index),
}

fn edit_strategy(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    // The generator prefers characters that are common in text formats.
    let byte = prop_oneof![
        select(&b"0123456789abcdefx{}[]\",:/-+. \n"[..]),
        any::<u8>()
    ];
    prop_oneof![
        (at(), byte.clone()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        (at(), byte).prop_map(|(at, byte)| Edit::Insert(at, byte)),
        (at(), at()).prop_map(|(from, to)| Edit::Remove(from, to)),
        (at(), select(seeds), at(), at())
            .prop_map(|(at, seed, from, to)| Edit::Splice(at, seed, from, to)),
    ]
}

impl Edit {
    fn apply(self, bytes: &mut Vec<u8>) {
        // The position of an insertion may be after the last byte.
        let insert_positions = bytes.len() + 1;
        match self {
            Self::Set(at, byte) => {
                if let Some(old) = bytes.get_mut(at.index(insert_positions)) {
                    *old = byte;
                }
            }
            Self::Insert(at, byte) => bytes.insert(at.index(insert_positions), byte),
            Self::Remove(from, to) => {
                let (from, to) = (from.index(insert_positions), to.index(insert_positions));
                bytes.drain(from.min(to)..from.max(to));
            }
            Self::Splice(at, other, from, to) => {
                let source_positions = other.len() + 1;
                let (from, to) = (from.index(source_positions), to.index(source_positions));
                let part = &other[from.min(to)..from.max(to)];
                let at = at.index(insert_positions);
                let end = (at + part.len()).min(bytes.len());
                bytes.splice(at..end, part.iter().copied());
            }
        }
    }
}
