//! Pictures of boards: `/picture/ID.svg`, and `.png` for those who show links, most of whom take no other.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use plyhouse_protocol::{MatchId, Seq};
use plyhouse_server::DrawnBoard;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::png::png;
use super::web;

/// How many pictures are kept, of some ten thousand bytes each: a link that is sent to many is looked at by
/// many at once.
const KEPT: usize = 64;

/// How many are painted at a time. Each takes a megabyte and some milliseconds.
const PAINTED_AT_ONCE: usize = 2;

/// In which form a picture is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Svg,
    Png,
}

impl Form {
    /// The form of files whose names end so.
    pub(super) fn of(extension: &str) -> Option<Self> {
        match extension {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }
}

/// The pictures that were painted last. Clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Pictures(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    painted: Mutex<VecDeque<((MatchId, Seq), Bytes)>>,
    places: Arc<Semaphore>,
}

impl Pictures {
    pub(super) fn new() -> Self {
        Self(Arc::new(Inner {
            painted: Mutex::default(),
            places: Arc::new(Semaphore::new(PAINTED_AT_ONCE)),
        }))
    }

    /// The picture of a match, unless whoever asks has it.
    pub(super) async fn answer(
        &self,
        drawn: DrawnBoard,
        form: Form,
        request: &HeaderMap,
    ) -> Response {
        let name = match form {
            Form::Svg => "svg",
            Form::Png => "png",
        };
        let tag = format!("\"{}-{}.{name}\"", drawn.id, drawn.seq);
        // What has ended looks so for ever; but a code may be another match's tomorrow.
        let kept = match drawn.has_ended {
            true => "public, max-age=3600",
            false => "no-cache",
        };
        let mut response = if web::knows(request, &tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            match form {
                Form::Svg => {
                    let headers = [(header::CONTENT_TYPE, "image/svg+xml")];
                    (headers, drawn.svg()).into_response()
                }
                Form::Png => match self.painted(drawn).await {
                    Some(painted) => {
                        ([(header::CONTENT_TYPE, "image/png")], painted).into_response()
                    }
                    None => {
                        let why = "too many pictures are asked for at once\n";
                        return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
                    }
                },
            }
        };
        let headers = response.headers_mut();
        let tag = HeaderValue::from_str(&tag).expect("letters, digits and quotes");
        headers.insert(header::ETAG, tag);
        for (name, value) in [
            (header::CACHE_CONTROL, kept),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }

    /// The picture as PNG; `None` if there is no painting it now.
    async fn painted(&self, drawn: DrawnBoard) -> Option<Bytes> {
        let key = (drawn.id, drawn.seq);
        if let Some(painted) = self.known(key) {
            return Some(painted);
        }
        let place = Arc::clone(&self.0.places).acquire_owned().await.ok()?;
        // Somebody else may have had it painted meanwhile.
        if let Some(painted) = self.known(key) {
            return Some(painted);
        }
        let painting = spawn_blocking(move || {
            // Painting goes on when nobody waits for it any more.
            let _place = place;
            png(DrawnBoard::SIZE, &drawn.pixels())
        });
        let painted = Bytes::from(painting.await.ok()?.ok()?);
        let mut all = self.0.painted.lock();
        if all.len() == KEPT {
            all.pop_front();
        }
        all.push_back((key, painted.clone()));
        Some(painted)
    }

    fn known(&self, key: (MatchId, Seq)) -> Option<Bytes> {
        let all = self.0.painted.lock();
        let found = all.iter().find(|(known, _)| *known == key);
        found.map(|(_, painted)| painted.clone())
    }
}
