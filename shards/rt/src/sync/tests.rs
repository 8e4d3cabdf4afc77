//! Tests of waiting and lanes.
