use std::cell::Cell;
use std::pin::pin;
use std::task::Waker;

use super::*;

#[test]
fn keeps_order_and_width() {
    let (running, most) = (Cell::new(0), Cell::new(0));
    let all = fan_out((0..50).collect(), 4, |item: u32| {
        running.set(running.get() + 1);
        most.set(running.get().max(most.get()));
        let mut left = 50 - item;
        let running = &running;
        std::future::poll_fn(move |_| {
            if left > 0 {
                left -= 1;
                return Poll::Pending;
            }
            running.set(running.get() - 1);
            Poll::Ready(item * 2)
        })
    });
    let mut all = pin!(all);
    let mut cx = Context::from_waker(Waker::noop());
    let results = loop {
        if let Poll::Ready(results) = all.as_mut().poll(&mut cx) {
            break results;
        }
    };
    assert_eq!(results, (0..50).map(|item| item * 2).collect::<Vec<_>>());
    assert_eq!(most.get(), 4);
    let mut none = pin!(fan_out(Vec::<u32>::new(), 4, |_| std::future::ready(())));
    assert!(matches!(none.as_mut().poll(&mut cx), Poll::Ready(v) if v.is_empty()));
}
