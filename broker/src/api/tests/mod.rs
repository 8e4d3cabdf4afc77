//! The pure parts of the API handlers.

mod api_versions;
mod metadata;
