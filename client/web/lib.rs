//! Files of the web page, embedded into the server binary. The files are in a separate crate
//! because a published crate can only contain files from its own folder.

use include_dir::include_dir;
pub use include_dir::{Dir, File};

/// Bundled and minified web page. `npm run --prefix client/web build` builds the page from
/// `client/web/page`.
pub static PAGE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/built");
