//! WebAssembly functions that the page calls. Requests and responses pass through the module's
//! linear memory.
//!
//! To make a request, the page calls `room`, writes the request text to the returned address and
//! calls `ask`. The page then reads the response at the address that `answer` returns.

#![expect(
    unsafe_code,
    reason = "an exported name could be that of another function; these names are nobody else's"
)]

use std::cell::RefCell;

/// Maximum size of a request, in bytes.
const REQUEST_BYTES_MAX: usize = 4096;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static RESPONSE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Allocates a buffer for a request of `bytes` bytes and returns its address. Returns null if the
/// request is too long.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn room(bytes: usize) -> *mut u8 {
    if bytes > REQUEST_BYTES_MAX {
        return std::ptr::null_mut();
    }
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(bytes, 0);
        request.as_mut_ptr()
    })
}

/// Handles the request in the request buffer. Returns the length of the response in bytes.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ask() -> usize {
    let response = REQUEST.with_borrow(|request| {
        // Invalid UTF-8 is replaced by U+FFFD. The request then fails like any other invalid
        // request.
        super::handle_request(&String::from_utf8_lossy(request))
    });
    let length = response.len();
    RESPONSE.set(response);
    length
}

/// Returns the address of the response to the last request.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer() -> *const u8 {
    RESPONSE.with_borrow(|response| response.as_ptr())
}
