//! To be described by its first slice.
