//! Tests of what boot decides.
