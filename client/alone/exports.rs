//! What the page calls. A text goes in and out through memory that both see: the page asks for room, writes the
//! question there, asks, and reads the answer.

#![expect(
    unsafe_code,
    reason = "an exported name could be that of another function; these names are nobody else's"
)]

use std::cell::RefCell;

/// No question is longer than this, in bytes.
const REQUEST_BYTES_MAX: usize = 4096;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static RESPONSE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Room for a question of so many bytes: where it begins. Null if that is too long.
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

/// Answers the question that was written; tells of how many bytes the answer is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ask() -> usize {
    let response = REQUEST.with_borrow(|request| {
        // What is no text is no question, and answered so.
        super::handle_request(&String::from_utf8_lossy(request))
    });
    let length = response.len();
    RESPONSE.set(response);
    length
}

/// Where the answer begins.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer() -> *const u8 {
    RESPONSE.with_borrow(|response| response.as_ptr())
}
