//! `cargo +nightly fuzz run request_decode`, in protocol/.
#![no_main]

#[allow(dead_code)]
#[path = "../checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::request_decode(data));
