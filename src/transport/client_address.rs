//! Determines the client address of a request.

use std::net::{IpAddr, SocketAddr};

use axum::extract::Request;
use axum::http::HeaderMap;

use plyhouse_server::{Address, ClientAddressSource};

/// Header that lists client addresses appended by proxies.
const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// IP address of the socket peer, if known.
#[derive(Clone, Copy, Debug)]
pub(super) struct From(pub(super) Option<IpAddr>);

/// Returns the client address for the limits per address. Returns `None` if the address is unknown
/// or exempt from the limits, such as loopback.
pub(super) fn address_of(request: &Request, source: ClientAddressSource) -> Option<Address> {
    let From(peer) = request.extensions().get().copied().unwrap_or(From(None));
    let address = match source {
        ClientAddressSource::SocketPeer => peer,
        ClientAddressSource::XForwardedFor => forwarded_for(request.headers()).or(peer),
    };
    address.and_then(Address::from_ip)
}

/// Returns the last address in the `X-Forwarded-For` header. The client may have forged the earlier
/// addresses.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let line = headers.get_all(X_FORWARDED_FOR).iter().next_back()?;
    let last = line.to_str().ok()?.rsplit(',').next()?.trim();
    let last = last.trim_matches('"');
    let in_brackets = last.strip_prefix('[');
    let bare = in_brackets.and_then(|rest| rest.strip_suffix(']'));
    let address = bare.unwrap_or(last).parse().ok();
    // Some proxies append a port to the address.
    address.or_else(|| {
        last.parse()
            .ok()
            .map(|with_port: SocketAddr| with_port.ip())
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn address_comes_from_the_configured_source() {
        let check = |source, headers: &[&str], expect: Option<&str>| {
            let mut request = Request::new(Body::empty());
            let peer = From(Some([192, 0, 2, 1].into()));
            request.extensions_mut().insert(peer);
            for value in headers {
                let value = value.parse().unwrap();
                request.headers_mut().append(X_FORWARDED_FOR, value);
            }
            let expect = expect.and_then(|text| Address::from_ip(text.parse().unwrap()));
            assert_eq!(address_of(&request, source), expect, "{headers:?}");
        };
        check(
            ClientAddressSource::SocketPeer,
            &["192.0.2.9"],
            Some("192.0.2.1"),
        );
        let forwarded = ClientAddressSource::XForwardedFor;
        check(forwarded, &["192.0.2.9"], Some("192.0.2.9"));
        check(forwarded, &["192.0.2.8, 192.0.2.9"], Some("192.0.2.9"));
        check(forwarded, &["192.0.2.8", "192.0.2.9:80"], Some("192.0.2.9"));
        check(forwarded, &["[2001:db8::1]:443"], Some("2001:db8::2"));
        check(forwarded, &["[2001:db8::1]"], Some("2001:db8::2"));
        check(forwarded, &["\"192.0.2.9\""], Some("192.0.2.9"));
        check(forwarded, &[], Some("192.0.2.1"));
        check(forwarded, &["unknown"], Some("192.0.2.1"));
        check(forwarded, &["127.0.0.1"], None);
    }
}
