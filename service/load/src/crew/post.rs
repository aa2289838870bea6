//! What part of a run's load each worker has.

use serde::{Deserialize, Serialize};

/// A worker's part: some of the threads that share a rate, and some of the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// The number of its first thread.
    pub first: u64,
    /// How many are its own.
    pub threads: u64,
    /// How many there are on all machines.
    pub of: u64,
    /// Its connections.
    pub connections: u64,
}

/// Shares connections among workers, which have so many threads each: as evenly as it goes, and none without a connection. Where there
/// are fewer connections than workers, the last ones have nothing to do.
pub fn posts(workers: usize, connections: u64, threads: u64) -> Vec<Post> {
    let workers = (workers as u64).min(connections);
    let own = |worker: u64| connections / workers + u64::from(worker < connections % workers);
    let threads_of = |worker: u64| threads.clamp(1, own(worker));
    let of = (0..workers).map(threads_of).sum();
    let mut first = 0;
    (0..workers)
        .map(|worker| {
            let post = Post { first, threads: threads_of(worker), of, connections: own(worker) };
            first += post.threads;
            post
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::{Pace, Plan};

    #[test]
    fn what_workers_plan_together_is_what_one_machine_would() {
        let moments = |threads: std::ops::Range<u64>, of: u64, pace: Pace| {
            let mut all = Vec::new();
            for thread in threads {
                let mut plan = Plan::new(pace, 0, (thread, of), fastrand::Rng::with_seed(thread));
                while plan.peek() < 1_000_000_000 {
                    all.push(plan.peek());
                    plan.advance();
                }
            }
            all
        };
        for (workers, connections, threads) in [(3, 10, 1), (3, 7, 2), (2, 100, 4), (5, 3, 2), (1, 1, 9)] {
            let all = posts(workers, connections, threads);
            assert_eq!(all.len() as u64, connections.min(workers as u64));
            assert_eq!(all.iter().map(|post| post.connections).sum::<u64>(), connections);
            assert!(all.iter().all(|post| (1..=post.connections).contains(&post.threads)), "{all:?}");
            let of = all[0].of;
            for pace in [Pace::Constant(1000.0), Pace::Poisson(1000.0)] {
                let mut together: Vec<u64> =
                    all.iter().flat_map(|post| moments(post.first..post.first + post.threads, of, pace)).collect();
                let mut alone = moments(0..of, of, pace);
                together.sort_unstable();
                alone.sort_unstable();
                assert!(together == alone);
                // No request is missing, and none is planned twice.
                assert!(pace == Pace::Poisson(1000.0) || together.len() == 1000);
            }
        }
    }
}
