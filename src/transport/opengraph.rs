//! Link previews of the page: title, description, and image (Open Graph protocol,
//! <https://ogp.me>).

use std::fmt::Write as _;

use axum::http::header;
use axum::http::request::Parts;
use plyhouse_server::{DrawnBoard, LinkPreview};

/// Header with the scheme of the client's request. A proxy sets this header.
const X_FORWARDED_PROTO: &str = "x-forwarded-proto";

/// Returns the `meta` elements of a preview.
pub(super) fn elements(preview: &LinkPreview, request: &Parts, is_over_tls: bool) -> String {
    let mut text = String::new();
    let mut add = |name: &str, content: &str| {
        // The `meta` elements of Open Graph use the attribute `property`, and other `meta` elements
        // use `name`.
        let attribute = if name.starts_with("og:") {
            "property"
        } else {
            "name"
        };
        let content = escaped(content);
        let _ = write!(
            text,
            "\n    <meta {attribute}=\"{name}\" content=\"{content}\" />"
        );
    };
    add("og:type", "website");
    add("og:site_name", "Plyhouse");
    add("og:title", &preview.title);
    add("og:description", &preview.text);
    let Some(base) = base(request, is_over_tls) else {
        return text;
    };
    add("og:url", &format!("{base}{}", request.uri.path()));
    let (image, card_type) = match preview.image {
        Some((id, seq)) => {
            // The image URL changes with each move, because preview services fetch each URL only
            // once.
            let image = format!("{base}/picture/{id}.png?{seq}");
            (image, "summary_large_image")
        }
        None => (format!("{base}/web/icon-512.png"), "summary"),
    };
    add("og:image", &image);
    if preview.image.is_some() {
        let (width, height) = DrawnBoard::SIZE;
        add("og:image:width", &width.to_string());
        add("og:image:height", &height.to_string());
        add("og:image:alt", "Current board position");
    }
    add("twitter:card", card_type);
    text
}

/// Returns the base URL of the page as the client addressed it. Preview services require absolute
/// image URLs.
fn base(request: &Parts, is_over_tls: bool) -> Option<String> {
    let headers = &request.headers;
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let is_of_hosts = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    if host.is_empty() || !host.chars().all(is_of_hosts) {
        return None;
    }
    let proto = headers.get(X_FORWARDED_PROTO);
    let scheme = match is_over_tls || proto.is_some_and(|proto| proto == "https") {
        true => "https",
        false => "http",
    };
    Some(format!("{scheme}://{host}"))
}

/// Escapes text for a quoted HTML attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use plyhouse_protocol::{MatchId, Seq};

    use super::*;

    fn description(host: &str, title: &str) -> String {
        let request = Request::builder()
            .uri("/m/K7QM2P?x=%22")
            .header("host", host);
        let (request, ()) = request.body(()).expect("a request").into_parts();
        let preview = LinkPreview {
            title: title.to_owned(),
            text: "Game aborted.".to_owned(),
            image: Some((MatchId(uuid()), Seq(7))),
        };
        elements(&preview, &request, false)
    }

    fn uuid() -> uuid::Uuid {
        uuid::Uuid::from_u128(1)
    }

    #[test]
    fn markup_in_names_is_escaped() {
        let name = "\"/><script>alert('&')</script>";
        let html = description("house.example:7878", name);
        assert!(html.contains("&quot;/&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;"));
        assert!(!html.contains("<script"), "{html}");
        assert_eq!(html.matches('<').count(), html.matches("<meta ").count());
        let image = format!(
            "content=\"http://house.example:7878/picture/{}.png?7\"",
            uuid()
        );
        assert!(html.contains(&image), "{html}");
        assert!(html.contains("content=\"http://house.example:7878/m/K7QM2P\""));
    }

    #[test]
    fn request_without_host_has_no_image() {
        for host in ["", "a\"b", "a/b", "a b"] {
            let html = description(host, "ada");
            assert!(
                html.contains("og:title") && !html.contains("og:image"),
                "{html}"
            );
        }
    }
}
