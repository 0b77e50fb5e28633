//! Reads the user name that a trusted proxy assigns to a request.

use axum::extract::Request;

use super::client_address::From;
use plyhouse_server::Settings;

/// Maximum length of a user name, in bytes. Email addresses have at most 254 bytes.
const BYTES_MAX: usize = 254;

/// Response to a request with an invalid user name. States the limit [`BYTES_MAX`].
pub(super) const ERROR_TEXT: &str = "the proxy must send exactly one user name of 1 to 254 bytes\n";

/// Error: the proxy sent an invalid user name, or more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoProxyUser;

/// Returns the user name set by a trusted proxy. Only the address of the socket peer decides
/// whether the proxy is trusted.
pub(super) fn of(request: &Request, settings: &Settings) -> Result<Option<String>, NoProxyUser> {
    let Some(header) = &settings.trusted_user_header else {
        return Ok(None);
    };
    let From(peer) = request.extensions().get().copied().unwrap_or(From(None));
    let is_trusted = |peer| settings.trusted_proxy.iter().any(|one| one.contains(peer));
    if !peer.is_some_and(is_trusted) {
        return Ok(None);
    }
    let mut named = request.headers().get_all(header).iter();
    let (name, other) = (named.next(), named.next());
    let Some(name) = name else { return Ok(None) };
    let name = str::from_utf8(name.as_bytes()).unwrap_or_default().trim();
    let is_one = other.is_none() && !name.is_empty() && name.len() <= BYTES_MAX;
    is_one.then(|| Some(name.to_owned())).ok_or(NoProxyUser)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn header_is_trusted_from_the_proxy_only() {
        let settings = Settings {
            trusted_user_header: Some("remote-user".to_owned()),
            trusted_proxy: vec!["192.0.2.0/24".parse().unwrap()],
            ..Settings::default()
        };
        let check = |peer: &str, values: &[&str], expected: Result<Option<&str>, NoProxyUser>| {
            let mut request = Request::new(Body::empty());
            let from = From(Some(peer.parse().unwrap()));
            request.extensions_mut().insert(from);
            let headers = request.headers_mut();
            headers.insert("x-forwarded-for", "192.0.2.1".parse().unwrap());
            for value in values {
                headers.append("Remote-User", value.parse().unwrap());
            }
            let expected = expected.map(|name| name.map(str::to_owned));
            assert_eq!(of(&request, &settings), expected, "{peer} {values:?}");
        };
        check("192.0.2.1", &["ada"], Ok(Some("ada")));
        check("::ffff:192.0.2.1", &["ada"], Ok(Some("ada")));
        check("192.0.2.1", &[], Ok(None));
        check("203.0.113.7", &["ada"], Ok(None));
        check("203.0.113.7", &["ada", "bob"], Ok(None));
        check("192.0.2.1", &["ada", "ada"], Err(NoProxyUser));
        check("192.0.2.1", &[""], Err(NoProxyUser));
        check("192.0.2.1", &[&"a".repeat(255)], Err(NoProxyUser));
    }
}
