//! Tests of record batches.
