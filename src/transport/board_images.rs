//! Serves board images at `/picture/ID.svg` and `/picture/ID.png`. Link previews use PNG, because
//! most preview services accept no SVG.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use plyhouse_protocol::{MatchId, Seq};
use plyhouse_server::DrawnBoard;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::web;

/// Maximum number of cached images, of about ten kilobytes each. When a link is shared, many
/// clients request its image at once.
const CACHED_IMAGES_MAX: usize = 64;

/// Maximum number of images rendered at a time. Rendering an image takes about a megabyte of memory
/// and a few milliseconds.
const CONCURRENT_RENDERS_MAX: usize = 2;

/// File format of a board image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageFormat {
    Svg,
    Png,
}

impl ImageFormat {
    /// Returns the format with this file extension.
    pub(super) fn of(extension: &str) -> Option<Self> {
        match extension {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }
}

/// Cache of the most recently rendered images. Clones share the cache.
#[derive(Clone, Debug)]
pub(super) struct BoardImages(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    cache: Mutex<VecDeque<((MatchId, Seq), Bytes)>>,
    render_permits: Arc<Semaphore>,
}

impl BoardImages {
    pub(super) fn new() -> Self {
        Self(Arc::new(Inner {
            cache: Mutex::default(),
            render_permits: Arc::new(Semaphore::new(CONCURRENT_RENDERS_MAX)),
        }))
    }

    /// Returns a response with the image of a match, or with status 304 if the client already has
    /// that image.
    pub(super) async fn respond(
        &self,
        drawn: DrawnBoard,
        form: ImageFormat,
        request: &HeaderMap,
    ) -> Response {
        let name = match form {
            ImageFormat::Svg => "svg",
            ImageFormat::Png => "png",
        };
        let tag = format!("\"{}-{}.{name}\"", drawn.id, drawn.seq);
        // The image of an ended match never changes, but another match may reuse the match code in
        // the URL. The image is therefore cached for one hour only.
        let cache_control = match drawn.has_ended {
            true => "public, max-age=3600",
            false => "no-cache",
        };
        let response = if web::is_not_modified(request, &tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            match form {
                ImageFormat::Svg => {
                    let headers = [(header::CONTENT_TYPE, "image/svg+xml")];
                    (headers, drawn.svg()).into_response()
                }
                ImageFormat::Png => match self.render(drawn).await {
                    Some(painted) => {
                        ([(header::CONTENT_TYPE, "image/png")], painted).into_response()
                    }
                    None => {
                        let why = "too many image requests; try again shortly\n";
                        return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
                    }
                },
            }
        };
        web::add_file_headers(response, &tag, cache_control, "default-src 'none'")
    }

    /// Returns the image as PNG, or `None` if it cannot be rendered now.
    async fn render(&self, drawn: DrawnBoard) -> Option<Bytes> {
        let key = (drawn.id, drawn.seq);
        if let Some(painted) = self.known(key) {
            return Some(painted);
        }
        let permits = Arc::clone(&self.0.render_permits);
        let place = permits.acquire_owned().await.ok()?;
        // Another request may have rendered the image while this request waited for the permit, so
        // the cache is checked again.
        if let Some(painted) = self.known(key) {
            return Some(painted);
        }
        let painting = spawn_blocking(move || {
            // The closure holds the permit, because rendering continues even if the request is
            // cancelled.
            let _place = place;
            drawn.png()
        });
        let painted = Bytes::from(painting.await.ok()?);
        let mut all = self.0.cache.lock();
        if all.len() == CACHED_IMAGES_MAX {
            all.pop_front();
        }
        all.push_back((key, painted.clone()));
        Some(painted)
    }

    fn known(&self, key: (MatchId, Seq)) -> Option<Bytes> {
        let all = self.0.cache.lock();
        let found = all.iter().find(|(known, _)| *known == key);
        found.map(|(_, painted)| painted.clone())
    }
}
