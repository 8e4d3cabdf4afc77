//! The API table: every key of Kafka 4.4 with its versions, generated from `schema/api/`.

mod info;

#[allow(clippy::all)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/api_keys.rs"));
}

pub use generated::ApiKey;
pub use info::ApiInfo;

#[cfg(test)]
mod tests;
