//! Files of the web page, embedded into the server binary. They are a separate crate because a
//! published crate can only contain files of its own folder.

use include_dir::include_dir;
pub use include_dir::{Dir, File};

/// Bundled and minified page. `npm run --prefix client/web build` builds it from `client/web/page`.
pub static PAGE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/built");
