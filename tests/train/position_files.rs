//! Files with the positions of self-play games, stored as fixed-size records.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

use crate::Args;

/// Returns the path of the position file. By default, the file is in the directory for temporary
/// files.
pub(crate) fn positions_path(args: &Args, game: &str) -> PathBuf {
    args.positions.clone().unwrap_or_else(|| {
        let name = format!("plyhouse-{game}-{}.positions", args.seed);
        std::env::temp_dir().join(name)
    })
}

/// Input files, each with its name and its positions. The main position file comes last. `hash` is
/// the beginning of the SHA-256 digest of the contents of all files.
pub(crate) struct PositionFiles<const BYTES: usize> {
    pub(crate) files: Vec<(String, Vec<[u8; BYTES]>)>,
    pub(crate) hash: String,
}

impl<const BYTES: usize> PositionFiles<BYTES> {
    pub(crate) fn read(args: &Args, positions: PathBuf) -> anyhow::Result<Self> {
        let mut digest = Sha256::new();
        let mut files = Vec::new();
        for path in args.extra_positions.iter().chain([&positions]) {
            let name = path.display().to_string();
            let bytes = fs::read(path).with_context(|| name.clone())?;
            digest.update(&bytes);
            let (records, rest) = bytes.as_chunks();
            ensure!(rest.is_empty(), "{name}: file is truncated");
            files.push((name, records.to_vec()));
        }
        let hash = digest.finalize();
        let hash = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { files, hash })
    }
}
