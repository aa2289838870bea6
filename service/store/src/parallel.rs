//! Several at once, as many as there are processors.

use std::thread;

/// What a function makes of each, in order. `None`: it has panicked.
pub fn each<T: Send, R: Send>(items: Vec<T>, make: impl Fn(T) -> R + Sync) -> Option<Vec<R>> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let at_once = items.len().div_ceil(threads).max(1);
    let mut items = items.into_iter();
    let parts = (0..threads).map(|_| items.by_ref().take(at_once).collect::<Vec<T>>());
    let (make, parts) = (&make, parts.filter(|part| !part.is_empty()).collect::<Vec<_>>());
    thread::scope(|scope| {
        let start = |part: Vec<T>| scope.spawn(move || part.into_iter().map(make).collect::<Vec<R>>());
        let started: Vec<_> = parts.into_iter().map(start).collect();
        let mut all = Vec::new();
        for part in started {
            all.extend(part.join().ok()?);
        }
        Some(all)
    })
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn all_come_in_order() {
        for many in [0, 1, 2, 3, 7, 100] {
            assert_eq!(
                each((0..many).collect(), |number: u32| number * 2),
                Some((0..many).map(|number| number * 2).collect())
            );
        }
    }
}
