//! Names, rules, syntax, precedence.

mod load;
mod names;
mod properties;
mod topic;
mod values;
