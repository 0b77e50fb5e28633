//! HTTP route that exports all data stored about a player to that player.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;

use super::client_address::address_of;
use super::{proxy_user, web};
use plyhouse_protocol::Token;
use plyhouse_server::{ExportError, ExportRequester, Server};

/// Serves all data stored about the requesting player as JSON lines.
pub(super) async fn export_own_data(State(server): State<Server>, request: Request) -> Response {
    let settings = server.settings();
    if settings.accounts.wire_name().is_none() {
        return web::not_found();
    }
    let asker = match proxy_user::of(&request, settings) {
        Err(_) => return (StatusCode::BAD_REQUEST, proxy_user::ERROR_TEXT).into_response(),
        Ok(Some(name)) => Some(ExportRequester::ProxyUser(name)),
        Ok(None) => bearer(request.headers()).map(ExportRequester::Token),
    };
    let address = address_of(&request, settings.client_address);
    let export = match asker {
        Some(asker) => server.export_personal_data(asker, address).await,
        None => Err(ExportError::Unauthorized),
    };
    let no_store = (header::CACHE_CONTROL, "no-store");
    let about = match export {
        Ok(about) => about,
        Err(why) => {
            let text = format!("{why}\n");
            return match why {
                ExportError::Unauthorized => {
                    let asks = (header::WWW_AUTHENTICATE, "Bearer");
                    (StatusCode::UNAUTHORIZED, [no_store, asks], text).into_response()
                }
                ExportError::TooSoon(wait) => {
                    let seconds = wait.as_secs() + 1;
                    let after = [(header::RETRY_AFTER, seconds.to_string())];
                    (StatusCode::TOO_MANY_REQUESTS, [no_store], after, text).into_response()
                }
                ExportError::StoreUnavailable => {
                    (StatusCode::SERVICE_UNAVAILABLE, [no_store], text).into_response()
                }
            };
        }
    };
    let pages = stream::unfold(about, |mut about| async {
        let page = about.next_page().await?;
        Some((page, about))
    });
    let headers = [
        (header::CONTENT_TYPE, "application/jsonl; charset=utf-8"),
        no_store,
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, Body::from_stream(pages)).into_response()
}

/// Returns the bearer token of a request (RFC 6750).
fn bearer(headers: &HeaderMap) -> Option<Token> {
    let shown = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = shown.split_once(' ')?;
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    is_bearer.then(|| Token::new(token.trim().to_owned()))
}
