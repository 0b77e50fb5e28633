//! Access to ended matches: game records, link previews, downloads and visibility rules.

mod board_image;
pub(crate) mod download_limits;
pub(crate) mod game_records;
pub(crate) mod link_previews;
pub(crate) mod visibility;
