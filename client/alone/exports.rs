//! What the page calls. A text goes in and out through memory that both see: the page asks for room, writes the
//! question there, asks, and reads the answer.

#![expect(
    unsafe_code,
    reason = "an exported name could be that of another function; these names are nobody else's"
)]

use std::cell::RefCell;

/// No question is longer than this, in bytes.
const QUESTION_MAX: usize = 4096;

thread_local! {
    static QUESTION: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Room for a question of so many bytes: where it begins. Null if that is too long.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn room(bytes: usize) -> *mut u8 {
    if bytes > QUESTION_MAX {
        return std::ptr::null_mut();
    }
    QUESTION.with_borrow_mut(|question| {
        question.clear();
        question.resize(bytes, 0);
        question.as_mut_ptr()
    })
}

/// Answers the question that was written; tells of how many bytes the answer is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ask() -> usize {
    let answer = QUESTION.with_borrow(|question| {
        // What is no text is no question, and answered so.
        super::answer(&String::from_utf8_lossy(question))
    });
    let length = answer.len();
    ANSWER.set(answer);
    length
}

/// Where the answer begins.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}
