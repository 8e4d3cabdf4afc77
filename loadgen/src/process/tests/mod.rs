//! Tests of what is seen and held from outside.

mod owned;
mod proc;
