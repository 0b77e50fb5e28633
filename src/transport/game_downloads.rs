//! Serves game records as files: a single match, or all public matches of a player. The records of
//! a player are streamed while they are read from the store.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::TryStreamExt;

use super::client_address::address_of;
use super::request_timeout::RequestTimeout;
use plyhouse_server::{ArchiveError, GameRecordFile, GameRecordQuery, Server};

/// File extensions of game records.
const EXTENSIONS: [&str; 4] = ["pgn", "pdn", "sgf", "txt"];

/// Value of the `Retry-After` header if the server does not know the required waiting time.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Serves the record of a match, such as `/record/K7WQ2M.pgn`.
pub(super) async fn of_match(
    State(server): State<Server>,
    Path(file): Path<String>,
    request: Request,
) -> Response {
    let address = address_of(&request, server.settings().client_address);
    let (name, extension) = file.rsplit_once('.').unwrap_or((&file, ""));
    match server.game_record(name.into(), extension, address).await {
        Ok(GameRecordFile { code, text }) => {
            file_response(code.to_string(), extension, text.into())
        }
        Err(why) => error_response(&why),
    }
}

/// Splits a path segment such as `ada.pgn` into the player name and the extension. Returns `None`
/// if the segment does not end with a known extension.
pub(super) fn file_of_player(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('.')
        .filter(|(_, extension)| EXTENSIONS.contains(extension))
}

/// Serves all public matches of a player, such as `/player/ada.pgn?game=chess`.
pub(super) async fn of_player(
    server: &Server,
    (player, extension): (&str, &str),
    request: Request,
) -> Response {
    let address = address_of(&request, server.settings().client_address);
    let (request, _) = request.into_parts();
    let query = request.uri.query().unwrap_or_default();
    let record_query = GameRecordQuery {
        player,
        game: query.split('&').find_map(|pair| pair.strip_prefix("game=")),
        extension,
    };
    let served = match server.game_records_of(record_query, address).await {
        Ok(served) => served,
        Err(why) => return error_response(&why),
    };
    // The timeout restarts with each chunk that the connection accepts, because the client is still
    // reading.
    let patience = request.extensions.get::<RequestTimeout>().cloned();
    let served = served.inspect_ok(move |_| {
        if let Some(patience) = &patience {
            patience.renew();
        }
    });
    file_response(file_name(player), extension, Body::from_stream(served))
}

/// Returns the player name as a file name, without special characters.
fn file_name(player: &str) -> String {
    let is_allowed = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
    let name: String = player.chars().filter(is_allowed).collect();
    if name.is_empty() {
        "player".to_owned()
    } else {
        name
    }
}

fn file_response(name: String, extension: &str, body: Body) -> Response {
    let content_type = match extension {
        "pgn" => "application/vnd.chess-pgn; charset=utf-8",
        "sgf" => "application/x-go-sgf; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    };
    let disposition = format!("attachment; filename=\"plyhouse-{name}.{extension}\"");
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_DISPOSITION, &disposition),
        // Clients must not cache the record, because the match may not have ended.
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, body).into_response()
}

/// Returns the response to a failed archive request.
pub(super) fn error_response(why: &ArchiveError) -> Response {
    let status = match why {
        ArchiveError::NotFound => StatusCode::NOT_FOUND,
        ArchiveError::AddressBusy => StatusCode::TOO_MANY_REQUESTS,
        ArchiveError::Busy | ArchiveError::StoreUnavailable | ArchiveError::Corrupt => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    };
    let mut response = (status, format!("{why}\n")).into_response();
    if matches!(why, ArchiveError::AddressBusy | ArchiveError::Busy) {
        let seconds = HeaderValue::from(RETRY_AFTER.as_secs());
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_no_special_characters() {
        for (player, name) in [
            ("ada", "ada"),
            ("A d\"a\r\n; x=1", "Adax1"),
            ("../..", "player"),
            ("\u{e9}\u{202e}", "player"),
        ] {
            assert_eq!(file_name(player), name);
        }
        assert_eq!(file_of_player("a.b.pgn"), Some(("a.b", "pgn")));
        for player in ["ada", "ada.exe", "pgn"] {
            assert_eq!(file_of_player(player), None);
        }
    }
}
