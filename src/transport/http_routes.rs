//! HTTP routes: the page, game records, monitoring, and the upgrade to a WebSocket.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRef, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use hyper_util::rt::TokioIo;
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;

use super::board_images::{BoardImages, ImageFormat};
use super::client_address::address_of;
use super::{
    game_downloads, opengraph, origin, personal_data, proxy_user, web, websocket_connection,
};
use plyhouse_protocol::{CloseCode, MatchRef, SUBPROTOCOL, SessionKind};
use plyhouse_server::{AdmissionError, ArchiveError, DropReason, LinkPreview, Server};

/// Shared state of the routes.
#[derive(Clone, Debug)]
pub(super) struct AppState {
    server: Server,
    connections: Arc<Semaphore>,
    board_images: BoardImages,
    /// Whether this server itself terminates TLS.
    is_over_tls: bool,
}

impl FromRef<AppState> for Server {
    fn from_ref(front: &AppState) -> Self {
        front.server.clone()
    }
}

/// Returns the router with all routes, including the given monitoring routes.
pub(super) fn router(
    monitoring_routes: axum::Router<AppState>,
    server: Server,
    is_over_tls: bool,
) -> axum::Router {
    let connections = Arc::new(Semaphore::new(server.settings().connections_max));
    axum::Router::new()
        .route("/", get(page))
        .route("/m/{code}", get(page_of_match))
        .route("/m/{code}/", get(page_of_match))
        .route("/games", get(page))
        .route("/leaders", get(page))
        .route("/pair", get(page))
        .route("/setup", get(page))
        .route("/you", get(page))
        .route("/web/{*path}", get(file_of_page))
        .route("/service-worker.js", get(service_worker))
        .route("/record/{file}", get(game_downloads::of_match))
        .route("/player/{name}", get(of_player))
        .route("/player/{name}/", get(page_of_player))
        .route("/picture/{file}", get(board_image))
        .route("/me.jsonl", get(personal_data::export_own_data))
        // If the server refuses a WebSocket handshake, the response must close the connection.
        .route("/ws", any(upgrade).layer(map_response(last)))
        .merge(monitoring_routes)
        .fallback(not_found)
        .with_state(AppState {
            server,
            connections,
            board_images: BoardImages::new(),
            is_over_tls,
        })
}

/// Adds `Connection: close` to a response, so that it is the last one on its connection. Responses
/// with status 101 or 426 are left unchanged.
///
/// Hyper's keep-alive option would also add `close` to the response that opens a WebSocket. Clients
/// may reject that response.
pub(super) async fn last(mut response: Response) -> Response {
    let status = response.status();
    if status != StatusCode::SWITCHING_PROTOCOLS && status != StatusCode::UPGRADE_REQUIRED {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}

/// Serves the page. The page reads from its URL which match to open.
async fn page(State(front): State<AppState>, headers: HeaderMap) -> Response {
    let folder = front.server.settings().web.as_deref();
    web::serve(web::INDEX, folder, &headers).await
}

/// Serves the service worker, which caches the page. The script must be at the root, because a
/// service worker controls only the paths below its own folder.
async fn service_worker(State(front): State<AppState>, headers: HeaderMap) -> Response {
    let folder = front.server.settings().web.as_deref();
    web::serve(web::SERVICE_WORKER, folder, &headers).await
}

/// Name in the path of a URL. Empty if the path segment is not valid UTF-8.
struct Named(String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let named = Path::<String>::from_request_parts(parts, state).await;
        Ok(named.map_or_else(|_| Self(String::new()), |Path(name)| Self(name)))
    }
}

/// Serves a player's page at `/player/kim`, and all public matches of the player as a file at
/// `/player/kim.sgf`. If an account is named `kim.sgf`, `/player/kim.sgf` is that account's page.
/// The matches of that account are at `/player/kim.sgf.sgf`.
async fn of_player(
    State(front): State<AppState>,
    Named(name): Named,
    request: Request,
) -> Response {
    match game_downloads::file_of_player(&name) {
        Some(file) if !front.server.has_account(&name).await => {
            game_downloads::of_player(&front.server, file, request).await
        }
        Some(_) | None => page_of_player(State(front), Named(name), request).await,
    }
}

/// Serves the page with a link preview of the match.
async fn page_of_match(
    State(front): State<AppState>,
    Named(code): Named,
    request: Request,
) -> Response {
    let address = address_of(&request, front.server.settings().client_address);
    let target = MatchRef::from(&*code);
    let preview = front.server.match_preview(target, address).await;
    page_with_preview(&front, preview, &request.into_parts().0).await
}

/// Serves the page with a link preview of the player.
async fn page_of_player(
    State(front): State<AppState>,
    Named(name): Named,
    request: Request,
) -> Response {
    let address = address_of(&request, front.server.settings().client_address);
    let preview = front.server.player_preview(&name, address).await;
    page_with_preview(&front, preview, &request.into_parts().0).await
}

/// Serves the page with a link preview. If there is no preview, the page is served unchanged and
/// reports the error itself.
async fn page_with_preview(
    front: &AppState,
    preview: Result<LinkPreview, ArchiveError>,
    request: &Parts,
) -> Response {
    let folder = front.server.settings().web.as_deref();
    let Ok(preview) = preview else {
        return web::serve(web::INDEX, folder, &request.headers).await;
    };
    let elements = opengraph::elements(&preview, request, front.is_over_tls);
    web::serve_with_preview(&elements, folder, &request.headers).await
}

/// Serves the board image of a match, such as `/picture/K7WQ2M.png`.
async fn board_image(
    State(front): State<AppState>,
    Path(file): Path<String>,
    request: Request,
) -> Response {
    let (name, extension) = file.rsplit_once('.').unwrap_or((&file, ""));
    let Some(form) = ImageFormat::of(extension) else {
        return web::not_found();
    };
    let address = address_of(&request, front.server.settings().client_address);
    match front.server.draw_board(name.into(), address).await {
        Ok(drawn) => {
            let (request, _) = request.into_parts();
            let images = &front.board_images;
            images.respond(drawn, form, &request.headers).await
        }
        Err(why) => game_downloads::error_response(&why),
    }
}

/// Serves the page with status 404 for an unknown path. The page then explains the error to the
/// user.
async fn not_found(
    State(front): State<AppState>,
    method: Method,
    mut headers: HeaderMap,
) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return web::not_found();
    }
    // A response with status 404 always contains the page, so the server ignores the
    // `If-None-Match` header.
    headers.remove(header::IF_NONE_MATCH);
    let folder = front.server.settings().web.as_deref();
    let mut response = web::serve(web::INDEX, folder, &headers).await;
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

async fn file_of_page(
    State(front): State<AppState>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    let folder = front.server.settings().web.as_deref();
    web::serve(&path, folder, &headers).await
}

/// Upgrades a request to a WebSocket, or responds with the reason for refusing it.
async fn upgrade(State(front): State<AppState>, mut request: Request) -> Response {
    if request.version() == Version::HTTP_2 {
        let message = "WebSocket connections require HTTP/1.1\n";
        return (StatusCode::UPGRADE_REQUIRED, message).into_response();
    }
    if request.headers().get_all(header::HOST).iter().count() != 1 {
        return (StatusCode::BAD_REQUEST, "send exactly one Host header\n").into_response();
    }
    let server = front.server.clone();
    let settings = server.settings();
    if !origin::is_allowed(request.headers(), &settings.origins, front.is_over_tls) {
        server.count_dropped_connection(DropReason::ForbiddenOrigin);
        return (StatusCode::FORBIDDEN, "origin not allowed; see --origin\n").into_response();
    }
    let Ok(external) = proxy_user::of(&request, settings) else {
        return (StatusCode::BAD_REQUEST, proxy_user::ERROR_TEXT).into_response();
    };
    if request.method() != Method::GET {
        let allow = [(header::ALLOW, "GET")];
        return (StatusCode::METHOD_NOT_ALLOWED, allow, "use GET\n").into_response();
    }
    if !is_upgrade(request.headers()) {
        return upgrade_required();
    }
    let mut response = match create_response_with_body(&request, Body::empty) {
        Ok(response) => response,
        Err(Error::Protocol(ProtocolError::MissingSecWebSocketVersionHeader)) => {
            return upgrade_required();
        }
        Err(error) => return (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
    };
    if offers_subprotocol(request.headers()) {
        let chosen = HeaderValue::from_static(SUBPROTOCOL);
        let headers = response.headers_mut();
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, chosen);
    }
    let guest = match server.admit(address_of(&request, settings.client_address)) {
        Ok(guest) => guest,
        Err(why) => {
            server.count_dropped_connection(DropReason::AddressLimit);
            return too_many_connections(why);
        }
    };
    // Only browsers send an `Origin` header, so the server treats a client without this header as a
    // command-line client.
    let kind = match request.headers().contains_key(header::ORIGIN) {
        true => SessionKind::Web,
        false => SessionKind::Cli,
    };
    let upgrade = hyper::upgrade::on(&mut request);
    front.server.spawn(async move {
        let stream = match upgrade.await {
            Ok(upgraded) => TokioIo::new(upgraded),
            Err(error) => return tracing::debug!(%error, "upgrade failed"),
        };
        match front.connections.try_acquire() {
            Ok(_permit) => {
                websocket_connection::serve(stream, &server, guest, (kind, external)).await
            }
            Err(_) => websocket_connection::refuse(stream, &server, CloseCode::ServerFull).await,
        }
    });
    response
}

/// Returns the response to a client whose address exceeds one of the limits per address.
fn too_many_connections(why: AdmissionError) -> Response {
    let wait = match why {
        // The server does not know when a connection of this address will end, so the waiting time
        // is a fixed value.
        AdmissionError::Connections => Duration::from_secs(10),
        AdmissionError::Handshakes(wait) => wait,
    };
    let seconds = (wait.as_secs() + 1).to_string();
    let headers = [(header::RETRY_AFTER, seconds)];
    (StatusCode::TOO_MANY_REQUESTS, headers, format!("{why}\n")).into_response()
}

/// Returns the response to a request that is not a WebSocket handshake, or that uses an unsupported
/// WebSocket version (RFC 6455, section 4.2.2).
fn upgrade_required() -> Response {
    let headers = [
        (header::CONNECTION, "Upgrade, close"),
        (header::UPGRADE, "websocket"),
        (header::SEC_WEBSOCKET_VERSION, "13"),
    ];
    let text = "a WebSocket connection is required\n";
    (StatusCode::UPGRADE_REQUIRED, headers, text).into_response()
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    headers
        .get(header::UPGRADE)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

fn offers_subprotocol(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let offers = offers.filter_map(|value| value.to_str().ok());
    offers
        .flat_map(|value| value.split(','))
        .any(|offer| offer.trim() == SUBPROTOCOL)
}
