use super::*;

#[test]
fn the_least_recently_used_goes() {
    let mut lru = Lru::new(10);
    for key in 0..5 {
        assert!(lru.insert(key, key * 10, 2).is_empty());
    }
    assert_eq!(lru.get(&0), Some(0));
    assert_eq!(lru.insert(9, 90, 3), [10, 20]);
    assert_eq!((lru.get(&1), lru.get(&0), lru.cost()), (None, Some(0), 9));
    assert_eq!(lru.insert(7, 70, 11), [70], "dearer than everything");
    assert_eq!(lru.remove_range(0, 3), [0, 30]);
    assert_eq!(lru.insert(4, 41, 2), [40]);
    assert_eq!(lru.cost(), 5);
}
