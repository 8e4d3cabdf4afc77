//! Chance, the same for the same seed: keys, sizes.

mod keys;
mod rng;
mod sizes;
#[cfg(test)]
mod tests;

pub(crate) use keys::KeyDraw;
pub(crate) use rng::Rng;
pub(crate) use sizes::SizeDraw;
