//! Checks which pages may open a WebSocket. Browsers send the origin of the page, and other clients
//! send no origin.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

/// Returns whether a request may become a WebSocket. Requests without an origin are allowed, as are
/// requests from pages of this server and from origins in `allowed`. A page of this server has the
/// same host and port, and uses TLS if the server serves only TLS.
pub(super) fn is_allowed(headers: &HeaderMap, allowed: &[String], is_over_tls: bool) -> bool {
    headers.get_all(header::ORIGIN).iter().all(|origin| {
        origin.to_str().is_ok_and(|origin| {
            allowed
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(origin))
                || is_own(origin, headers, is_over_tls).unwrap_or(false)
        })
    })
}

fn is_own(origin: &str, headers: &HeaderMap, is_over_tls: bool) -> Option<bool> {
    let origin: Uri = origin.parse().ok()?;
    let default_port = match origin.scheme_str()? {
        // A page loaded without TLS is refused, because an attacker on the network could have
        // modified it.
        "http" | "ws" if is_over_tls => return None,
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        _ => return None,
    };
    let mut hosts = headers.get_all(header::HOST).iter();
    let host: Authority = hosts.next()?.to_str().ok()?.parse().ok()?;
    if hosts.next().is_some() {
        return None;
    }
    let port = host.port_u16().unwrap_or(default_port);
    let origin_port = origin.port_u16().unwrap_or(default_port);
    Some(origin.host()?.eq_ignore_ascii_case(host.host()) && origin_port == port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origin: &str, host: &str, expect: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, origin.parse().unwrap());
        headers.insert(header::HOST, host.parse().unwrap());
        let listed = ["https://play.example.org".to_owned()];
        let allowed = is_allowed(&headers, &listed, false);
        assert_eq!(allowed, expect, "{origin} at {host}");
    }

    #[test]
    fn same_origin_is_allowed() {
        check("http://localhost:7878", "localhost:7878", true);
        check("http://LocalHost:7878", "localhost:7878", true);
        check("http://[::1]:7878", "[::1]:7878", true);
        check("http://plyhouse.example", "plyhouse.example", true);
        check("https://plyhouse.example", "plyhouse.example:443", true);
        check("https://plyhouse.example:443", "plyhouse.example", true);
    }

    #[test]
    fn other_origins_are_refused() {
        check("http://evil.example", "localhost:7878", false);
        check("http://localhost:7879", "localhost:7878", false);
        check("http://localhost", "localhost:7878", false);
        check("https://plyhouse.example", "plyhouse.example:80", false);
        check(
            "http://localhost.evil.example:7878",
            "localhost:7878",
            false,
        );
        check("null", "localhost:7878", false);
        check("file://", "localhost:7878", false);
        check("", "localhost:7878", false);
    }

    #[test]
    fn https_server_refuses_http_origin() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "plyhouse.example".parse().unwrap());
        let mut check = |origin: &str, expect| {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            let listed = ["http://listed.example".to_owned()];
            assert_eq!(is_allowed(&headers, &listed, true), expect, "{origin}");
        };
        check("https://plyhouse.example", true);
        check("https://plyhouse.example:443", true);
        check("http://plyhouse.example", false);
        check("http://plyhouse.example:443", false);
        check("http://listed.example", true);
    }

    #[test]
    fn every_origin_header_must_be_allowed() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "localhost:7878".parse().unwrap());
        headers.append(header::ORIGIN, "http://localhost:7878".parse().unwrap());
        assert!(is_allowed(&headers, &[], false));
        headers.append(header::ORIGIN, "http://evil.example".parse().unwrap());
        assert!(!is_allowed(&headers, &[], false));
    }

    #[test]
    fn listed_origin_is_allowed() {
        check("https://play.example.org", "localhost:7878", true);
        check("http://play.example.org", "localhost:7878", false);
    }

    #[test]
    fn request_without_origin_is_allowed() {
        assert!(is_allowed(&HeaderMap::new(), &[], false));
    }
}
