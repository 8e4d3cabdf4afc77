//! Which partition a key belongs to, as every client computes it.
