//! Shares of what is drawn.

use super::*;
use crate::scenario::{Keys, Sizes};

const DRAWS: usize = 100_000;

fn counts(keys: Keys) -> Vec<f64> {
    let (draw, mut rng) = (KeyDraw::new(keys), Rng::new(7));
    let mut counts = vec![0.0; 20];
    for _ in 0..DRAWS {
        counts[draw.draw(&mut rng).unwrap() as usize] += 1.0 / DRAWS as f64;
    }
    counts
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() < 0.01, "{got} for {want}");
}

#[test]
fn uniform_keys_are_alike() {
    let counts = counts(Keys::Uniform(10));
    counts[..10].iter().for_each(|share| near(*share, 0.1));
    assert_eq!(counts[10], 0.0);
}

#[test]
fn zipf_keys_fall_as_one_by_rank() {
    let counts = counts(Keys::Zipf { keys: 4, exponent: 1.0 });
    let total = 1.0 + 0.5 + 1.0 / 3.0 + 0.25;
    (0..4).for_each(|rank| near(counts[rank], 1.0 / (rank as f64 + 1.0) / total));
}

#[test]
fn the_hot_key_has_its_share() {
    let counts = counts(Keys::Hot { keys: 5, share: 0.7 });
    near(counts[0], 0.7);
    (1..6).for_each(|key| near(counts[key], 0.06));
}

#[test]
fn no_keys_are_drawn_where_there_are_none() {
    assert_eq!(KeyDraw::new(Keys::None).draw(&mut Rng::new(1)), None);
}

#[test]
fn sizes_are_drawn_by_their_weight() {
    let mut rng = Rng::new(3);
    let between = SizeDraw::new(&Sizes::Between { min: 5, max: 7 });
    let drawn: std::collections::BTreeSet<usize> = (0..100).map(|_| between.draw(&mut rng)).collect();
    assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [5, 6, 7]);
    let weighted = SizeDraw::new(&Sizes::Weighted(vec![(10, 3.0), (20, 1.0)]));
    let tens = (0..DRAWS).filter(|_| weighted.draw(&mut rng) == 10).count();
    near(tens as f64 / DRAWS as f64, 0.75);
    assert_eq!(SizeDraw::new(&Sizes::Weighted(vec![(9, 1.0)])).draw(&mut rng), 9);
}
