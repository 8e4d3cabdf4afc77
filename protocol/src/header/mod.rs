//! Request and response headers, and whole frames.

mod frame;
mod request;
mod response;

pub use frame::{request_frame, response_frame};
pub use request::RequestHeader;
pub use response::ResponseHeader;

#[cfg(test)]
mod tests;
