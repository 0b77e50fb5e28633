//! Serves the files of the browser page, which are embedded in the binary.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Component, Path};
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::GzEncoder;
use plyhouse_page::PAGE;
use sha2::{Digest, Sha256};

/// Path of the page itself, which is served for all routes that name no file.
pub(super) const INDEX: &str = "index.html";

/// Script that caches the page in the browser for use without a server.
pub(super) const SERVICE_WORKER: &str = "service-worker.js";

/// Content security policy of the page. All resources come from this server. Scripts and styles
/// must be files, so text written by a player cannot become a script or a style. Workers are also
/// files of the server and use the page's only Trusted Types policy. WebAssembly may be compiled,
/// but script text may not be evaluated.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
    style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types plyhouse";

/// End tag of the page's title element.
const TITLE_END: &str = "</title>";

/// Start of each link to a page file. Such links occur in the page and in the service worker.
const LINK: &str = "\"/web/";

/// Page files, ready to be sent to clients. The files are compressed once, at the first request.
static FILES: LazyLock<Files> = LazyLock::new(Files::of_page);

/// Files of the page.
///
/// The page links to its files by paths that contain a common version. The files refer to each
/// other by relative paths, which resolve to the same version. Versioned files never change, so a
/// browser with cached files requests only the page.
#[derive(Debug)]
struct Files {
    files: BTreeMap<&'static Path, File>,
    /// Hash of all files. If a path starts with this hash, the path refers to this version of the
    /// files.
    version: String,
}

impl Files {
    fn of_page() -> Self {
        let mut contents = BTreeMap::new();
        let mut folders = vec![&PAGE];
        while let Some(folder) = folders.pop() {
            folders.extend(folder.dirs());
            contents.extend(folder.files().map(|file| (file.path(), file.contents())));
        }
        let mut all = Sha256::new();
        for (path, bytes) in &contents {
            all.update(path.as_os_str().as_encoded_bytes());
            all.update(Sha256::digest(bytes));
        }
        let version = name_of(&all.finalize());
        let sent = |(path, bytes): (&'static Path, &'static [u8])| {
            let contents = match std::str::from_utf8(bytes) {
                Ok(text) if [INDEX, SERVICE_WORKER].map(Path::new).contains(&path) => {
                    let linked = text.replace(LINK, &format!("{LINK}{version}/"));
                    Cow::Owned(linked.into_bytes())
                }
                _ => Cow::Borrowed(bytes),
            };
            (path, File::new(contents))
        };
        Self {
            files: contents.into_iter().map(sent).collect(),
            version,
        }
    }

    /// Returns the file with this path, and the `Cache-Control` value for the response.
    fn find(&self, path: &str) -> Option<(&Path, &File, &'static str)> {
        let (path, cache_control) = match path.split_once('/') {
            Some((version, path)) if version == self.version => (path, IMMUTABLE),
            // The path starts with the file version of an older or newer server. This server
            // responds with its own current file.
            Some((_, rest)) if !self.files.contains_key(Path::new(path)) => (rest, REVALIDATE),
            _ => (path, REVALIDATE),
        };
        let (path, file) = self.files.get_key_value(Path::new(path))?;
        Some((path, file, cache_control))
    }
}

/// Cache policy for unversioned paths. The browser revalidates such files each time, so that it
/// never mixes old and new files.
const REVALIDATE: &str = "no-cache";
/// Cache policy for paths that contain the version.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Returns the first twelve bytes of a hash as text. Twelve bytes suffice, because chance
/// collisions are improbable and no attacker can choose the files.
fn name_of(hash: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(&hash[..12])
}

/// Contents of a file, plain and compressed, ready to be sent to clients.
#[derive(Debug)]
struct File {
    plain: Bytes,
    gzip: Bytes,
    /// Hash of the contents, used in the entity tag.
    version: String,
}

impl File {
    fn new(contents: Cow<'static, [u8]>) -> Self {
        let version = name_of(&Sha256::digest(&contents));
        let gzip = gzip(&contents);
        let plain = match contents {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        };
        Self {
            plain,
            gzip,
            version,
        }
    }
}

fn gzip(contents: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(contents);
    let packed = written.and_then(|()| encoder.finish());
    Bytes::from(packed.expect("memory takes everything"))
}

/// Serves the file with this path. Reads the file from `folder` if set, otherwise from the binary.
pub(super) async fn serve(path: &str, folder: Option<&Path>, request: &HeaderMap) -> Response {
    let Some(folder) = folder else {
        return match FILES.find(path) {
            Some((path, file, caching)) => respond(path, file, caching, request),
            None => not_found(),
        };
    };
    let path = Path::new(path);
    // Only paths below the folder are allowed: no `..` and no root.
    let is_normal = |part| matches!(part, Component::Normal(_));
    if !path.components().all(is_normal) {
        return not_found();
    }
    match tokio::fs::read(folder.join(path)).await {
        Ok(contents) => respond(path, &File::new(Cow::Owned(contents)), REVALIDATE, request),
        Err(error) => {
            tracing::debug!(path = %path.display(), %error, "cannot read web file");
            not_found()
        }
    }
}

/// Serves the page with additional elements for a link preview.
pub(super) async fn serve_with_preview(
    elements: &str,
    folder: Option<&Path>,
    request: &HeaderMap,
) -> Response {
    let index = match folder {
        None => FILES.find(INDEX).map(|(_, file, _)| file.plain.clone()),
        Some(folder) => {
            let contents = tokio::fs::read(folder.join(INDEX)).await;
            contents.ok().map(Bytes::from)
        }
    };
    let Some(Ok(text)) = index.as_deref().map(str::from_utf8) else {
        return not_found();
    };
    // The elements follow the title, because preview services read only the start of the page.
    let about = text.replacen(TITLE_END, &format!("{TITLE_END}{elements}"), 1);
    let file = File::new(Cow::Owned(about.into_bytes()));
    respond(Path::new(INDEX), &file, REVALIDATE, request)
}

/// Returns a response with status 404.
pub(super) fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "not found\n").into_response()
}

fn respond(path: &Path, file: &File, cache_control: &'static str, request: &HeaderMap) -> Response {
    // Compressed and plain contents need different entity tags.
    let (suffix, contents) = match accepts_gzip(request) {
        true => ("-gzip", &file.gzip),
        false => ("", &file.plain),
    };
    let tag = format!("\"{}{suffix}\"", file.version);
    let mut response = if is_not_modified(request, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = [(header::CONTENT_TYPE, content_type(path))];
        let encoding = (!suffix.is_empty()).then_some([(header::CONTENT_ENCODING, "gzip")]);
        (content_type, encoding, contents.clone()).into_response()
    };
    let vary = HeaderValue::from_static("accept-encoding");
    response.headers_mut().insert(header::VARY, vary);
    add_file_headers(response, &tag, cache_control, POLICY)
}

/// Adds the entity tag, the cache policy and the content security policy of a file to a response.
pub(super) fn add_file_headers(
    mut response: Response,
    tag: &str,
    cache_control: &'static str,
    policy: &'static str,
) -> Response {
    let headers = response.headers_mut();
    let tag = HeaderValue::from_str(tag).expect("letters, digits and quotes");
    headers.insert(header::ETAG, tag);
    let fixed = [
        (header::CACHE_CONTROL, cache_control),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The URL of a match grants access to the match, so it must not leak as a referrer.
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        Some("webmanifest") => "application/manifest+json",
        Some(_) | None => "application/octet-stream",
    }
}

/// Returns whether the client already has the contents with this entity tag (RFC 9110, section
/// 13.1.2).
pub(super) fn is_not_modified(request: &HeaderMap, tag: &str) -> bool {
    values(request, &header::IF_NONE_MATCH)
        .map(|known| known.strip_prefix("W/").unwrap_or(known))
        .any(|known| known == tag || known == "*")
}

/// Returns whether the client accepts gzip (RFC 9110, section 12.5.3). `*` applies to encodings
/// that are not listed.
fn accepts_gzip(request: &HeaderMap) -> bool {
    let weight = |name: &str| {
        values(request, &header::ACCEPT_ENCODING).find_map(|value| {
            let (coding, weight) = value.split_once(';').unwrap_or((value, "q=1"));
            let weight = weight.trim().strip_prefix("q=")?.parse::<f32>().ok()?;
            coding.trim().eq_ignore_ascii_case(name).then_some(weight)
        })
    };
    weight("gzip").or_else(|| weight("*")).unwrap_or(0.0) > 0.0
}

/// Returns the elements of a comma-separated header.
fn values<'a>(
    headers: &'a HeaderMap,
    name: &header::HeaderName,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let lines = headers.get_all(name).into_iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn headers(name: &header::HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn gzip_is_sent_if_accepted() {
        let check = |value, expect| {
            let headers = headers(&header::ACCEPT_ENCODING, value);
            assert_eq!(accepts_gzip(&headers), expect, "{value}");
        };
        check("gzip, deflate, br", true);
        check("br;q=1.0, GZIP ; q=0.2", true);
        check("*", true);
        check("br", false);
        check("gzip;q=0, *", false);
        check("identity;q=1, *;q=0", false);
        check("gzip;q=much", false);
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn matching_etag_is_not_modified() {
        let check = |value, expect| {
            let headers = headers(&header::IF_NONE_MATCH, value);
            assert_eq!(is_not_modified(&headers, "\"abc\""), expect, "{value}");
        };
        check("\"abc\"", true);
        check("W/\"abc\"", true);
        check("\"x\", \"abc\"", true);
        check("*", true);
        check("\"abcd\"", false);
        check("abc", false);
    }

    #[test]
    fn gzipped_file_unpacks_to_the_original() {
        for (path, file) in &FILES.files {
            let mut unpacked = Vec::new();
            GzDecoder::new(file.gzip.as_ref())
                .read_to_end(&mut unpacked)
                .unwrap();
            assert_eq!(file.plain, unpacked, "{}", path.display());
        }
    }

    /// Checks that the page references each of its files. Early references let a distant client
    /// load the files in parallel. A file without a reference is a mistake.
    #[test]
    fn every_file_is_referenced() {
        let text = |path| std::str::from_utf8(&FILES.files[Path::new(path)].plain).unwrap();
        let index = text(INDEX);
        let first = [
            "boot.js",
            "main.js",
            "page.css",
            "icon.svg",
            "apple-touch-icon.png",
        ];
        for path in first.into_iter().chain(["manifest.webmanifest"]) {
            let link = format!("{LINK}{}/{path}\"", FILES.version);
            assert!(index.contains(&link), "{link}");
        }
        for path in FILES.files.keys() {
            let path = path.to_str().unwrap();
            let name = path.rsplit('/').next().unwrap();
            let (asks, link) = match path.rsplit_once('/') {
                None if path == INDEX || first.contains(&path) => continue,
                None if path.ends_with(".webmanifest") => continue,
                // The web worker that replaces the server while the client is offline loads this
                // file.
                None if path.ends_with(".wasm") => (text("offline.js"), path.to_owned()),
                // Browsers that install the page load this icon.
                None if path.ends_with("-512.png") => {
                    (text("manifest.webmanifest"), format!("\"{path}\""))
                }
                None => (text("main.js"), path.to_owned()),
                // The script that chooses the language also loads the file of that language.
                Some(("locales/initial", _)) => (
                    text("boot.js"),
                    format!("[\"{}\",[", name.trim_end_matches(".js")),
                ),
                Some(("locales/lazy", _)) => (text("main.js"), "import(`./locales/${".to_owned()),
                Some((folder, _)) => panic!("unexpected folder {folder}"),
            };
            assert!(asks.contains(&link), "{path}: {link}");
        }
    }

    /// Checks that the service worker caches files under the version that the page requests.
    #[test]
    fn cached_page_refers_to_its_own_version() {
        let worker = &FILES.files[Path::new(SERVICE_WORKER)].plain;
        let worker = std::str::from_utf8(worker).unwrap();
        assert!(worker.contains(&format!("{LINK}{}/\"", FILES.version)));
    }

    #[test]
    fn versioned_files_are_cached() {
        let version = &FILES.version;
        let check = |path: &str, expect: Option<&str>| {
            let cache_control = FILES.find(path).map(|(_, _, caching)| caching);
            assert_eq!(cache_control, expect, "{path}");
        };
        check(&format!("{version}/main.js"), Some(IMMUTABLE));
        check(&format!("{version}/locales/initial/de.js"), Some(IMMUTABLE));
        check("main.js", Some(REVALIDATE));
        check("locales/initial/de.js", Some(REVALIDATE));
        check(INDEX, Some(REVALIDATE));
        // A page from another server version still receives all of its files.
        check("another/main.js", Some(REVALIDATE));
        check("another/locales/initial/de.js", Some(REVALIDATE));
        check(&format!("{version}/nothing.js"), None);
        check("locales/initial/nothing.js", None);
        check("a/b/main.js", None);
    }

    /// Browsers reject some files without a known content type.
    #[test]
    fn every_file_has_a_content_type() {
        assert!(FILES.files.contains_key(Path::new(INDEX)));
        for path in FILES.files.keys() {
            let kind = content_type(path);
            assert_ne!(kind, "application/octet-stream", "{}", path.display());
        }
    }
}
