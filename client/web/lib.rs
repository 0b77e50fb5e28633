//! The page in the browser, as files in the program that serves it. It is a crate of its own since a crate
//! can be published with files of its own folder only.

use include_dir::include_dir;
pub use include_dir::{Dir, File};

/// Made of `client/web/page` by `npm run --prefix client/web build`: the same page, in a few small files.
pub static PAGE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/built");
