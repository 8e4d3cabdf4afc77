//! Tests of the comparison: what is decided, how figures come together, and that nothing is left running.

mod figures;
mod starting;
mod targets;
