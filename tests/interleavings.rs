//! Every order in which threads and processes can do what `diytrace_format::protocol` lets them do to the file's words, deaths in
//! between included.
//!
//!   RUSTFLAGS="--cfg loom" cargo test --release --test interleavings
//!
//! Where that would take too long, all with at most three switches between threads that could go on.
//!
//! A death is a thread that does the first steps only: what the others find then is what it has left.

#![cfg(loom)]

use diytrace_format::header::Anchor;
use diytrace_format::protocol::directory::{self, Owner, Word};
use diytrace_format::protocol::{anchors, by_function, modules, room, space};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;

/// All orders with at most three switches away from a thread that could go on: where there are too many for all.
fn all_with_few_switches(story: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(story);
}

fn words<const N: usize>() -> [AtomicU64; N] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

#[test]
fn space_is_handed_out_once() {
    loom::model(|| {
        let used = Arc::new(AtomicU64::new(0));
        let take = |used: Arc<AtomicU64>| {
            thread::spawn(move || [2, 1].map(|size| (space::take(&used, size, 5, |_| true), size)))
        };
        let takers = [take(used.clone()), take(used.clone())];
        let taken: Vec<_> = takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
        let mut ranges: Vec<_> = taken.iter().filter_map(|&(offset, size)| Some((offset?, size))).collect();
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{ranges:?}");
        let all: u64 = ranges.iter().map(|(_, size)| size).sum();
        assert_eq!(used.load(Ordering::SeqCst), all);
        assert!(all <= 5);
    });
}

/// Two of one thread's state: a child that a signal handler forked goes on in its parent's block.
#[test]
fn room_in_a_block_is_handed_out_once() {
    const NODE: usize = 2;
    loom::model(|| {
        let counts = Arc::new(AtomicU64::new(0));
        let take = |counts: Arc<AtomicU64>| {
            thread::spawn(move || (room::take_node(&counts, 7, NODE), room::take_back(&counts, 7, NODE, 1)))
        };
        let takers = [take(counts.clone()), take(counts.clone())];
        let taken: Vec<_> = takers.into_iter().map(|taker| taker.join().unwrap()).collect();
        let mut bytes: Vec<usize> = Vec::new();
        for (node, back) in taken {
            bytes.extend(node.into_iter().flat_map(|node| node as usize * NODE..(node as usize + 1) * NODE));
            bytes.extend(back.map(|back| 7 - back as usize));
        }
        bytes.sort_unstable();
        assert!(bytes.windows(2).all(|pair| pair[0] < pair[1]) && bytes.len() == 6, "{bytes:?}");
    });
}

#[test]
fn a_node_has_one_owner() {
    loom::model(|| {
        let function = Arc::new(AtomicU64::new(0));
        let claim = |function: Arc<AtomicU64>| thread::spawn(move || room::claim(&function, 0x1000));
        let claims = [claim(function.clone()), claim(function)];
        assert_eq!(claims.into_iter().map(|claim| claim.join().unwrap()).filter(|won| *won).count(), 1);
    });
}

/// What a node's words say of the next free one, they say to its owner alone.
#[test]
fn a_free_node_leads_its_owner_to_the_next_one() {
    const NEXT: u64 = 8;
    loom::model(|| {
        let node = Arc::new([AtomicU64::new(0), AtomicU64::new(NEXT)]);
        let take =
            |node: Arc<[AtomicU64; 2]>, key| thread::spawn(move || room::take_free([&node[0], &node[1]], [key, key]));
        let takers = [0x1000, 0x2000].map(|key| take(node.clone(), key));
        let mut found = takers.map(|taker| taker.join().unwrap());
        found.sort_unstable();
        assert_eq!(found, [None, Some(NEXT)]);
    });
}

/// An arena's words, and who writes to it at the moment.
struct Arena {
    entry: AtomicU64,
    token: AtomicU64,
    pid_namespace: AtomicU64,
    tid: AtomicU32,
    writers: AtomicU32,
    tokens: AtomicU64,
}

const ARENA: u32 = 64;

impl Arena {
    /// Left by an owner that has died, or has said goodbye.
    fn left_by(token: u64, namespace: u64, tid: u32, is_released: bool) -> Self {
        let owner = if is_released { 0 } else { token };
        Self {
            entry: AtomicU64::new(Word::new(ARENA, owner).0),
            token: AtomicU64::new(token),
            pid_namespace: AtomicU64::new(namespace),
            tid: AtomicU32::new(tid),
            writers: AtomicU32::new(0),
            tokens: AtomicU64::new(token),
        }
    }

    fn owner(&self) -> Owner<'_> {
        Owner { token: &self.token, pid_namespace: &self.pid_namespace, tid: &self.tid }
    }

    /// As the recorder does it: true if the arena is this one's. `alive` are the tasks that the kernel knows in this namespace.
    fn claim(&self, namespace: u64, tid: u32, alive: &[u32], dies_before_introduction: bool) -> Option<u64> {
        let mine = directory::token(&self.tokens);
        let found = Word(self.entry.load(Ordering::Acquire));
        let is_free = found.owner() == 0
            || self.owner().of(found.owner()).is_some_and(|(its, task)| its == namespace && !alive.contains(&task));
        if !is_free || !directory::adopt(&self.entry, found, mine) {
            return None;
        }
        if !dies_before_introduction {
            self.owner().introduce(mine, namespace, tid);
        }
        Some(mine)
    }

    fn write(&self) {
        assert_eq!(self.writers.fetch_add(1, Ordering::SeqCst), 0, "two write to one arena");
    }

    fn stop_writing(&self) {
        self.writers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Two find that its owner is gone, or was released; both then live on.
#[test]
fn an_arena_is_adopted_by_one() {
    for is_released in [false, true] {
        loom::model(move || {
            let arena = Arc::new(Arena::left_by(1, 7, 100, is_released));
            let adopt = |tid| {
                let arena = arena.clone();
                thread::spawn(move || {
                    let mine = arena.claim(7, tid, &[200, 300], false);
                    if mine.is_some() {
                        arena.write(); // for good
                    }
                    mine
                })
            };
            let adopters = [adopt(200), adopt(300)];
            let owners: Vec<_> = adopters.into_iter().filter_map(|adopter| adopter.join().unwrap()).collect();
            assert_eq!(owners.len(), 1);
            assert_eq!(Word(arena.entry.load(Ordering::SeqCst)).owner(), owners[0]);
            let tid = arena.owner().of(owners[0]).unwrap().1;
            assert!([200, 300].contains(&tid));
        });
    }
}

/// An owner that gives the arena back while others look for one; each gives it back in turn. Task numbers are used again.
#[test]
fn an_arena_passes_from_one_to_the_next() {
    all_with_few_switches(|| {
        let arena = Arc::new(Arena::left_by(1, 7, 100, false));
        arena.write();
        let first = {
            let arena = arena.clone();
            thread::spawn(move || {
                arena.stop_writing();
                directory::release(&arena.entry, ARENA, 1);
            })
        };
        // The next has the number of the first, which lives until it has released.
        let next = |tid| {
            let arena = arena.clone();
            thread::spawn(move || {
                if let Some(mine) = arena.claim(7, tid, &[100, 200], false) {
                    arena.write();
                    arena.stop_writing();
                    directory::release(&arena.entry, ARENA, mine);
                }
            })
        };
        let others = [next(100), next(200)];
        first.join().unwrap();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(Word(arena.entry.load(Ordering::SeqCst)).owner(), 0);
        assert_eq!(arena.writers.load(Ordering::SeqCst), 0);
    });
}

/// One adopts the arena and is killed before it has said who it is: nobody takes it then, as nobody knows whether it lives.
#[test]
fn an_owner_that_is_not_known_keeps_its_arena() {
    loom::model(|| {
        let arena = Arc::new(Arena::left_by(1, 7, 100, false));
        let killed = {
            let arena = arena.clone();
            thread::spawn(move || arena.claim(7, 200, &[300], true))
        };
        let other = {
            let arena = arena.clone();
            thread::spawn(move || arena.claim(7, 300, &[300], false))
        };
        let (killed, other) = (killed.join().unwrap(), other.join().unwrap());
        assert!(killed.is_none() || other.is_none(), "a stale introduction was taken for the new owner's");
        assert!(killed.is_some() || other.is_some());
        if killed.is_some() {
            assert!(arena.claim(7, 400, &[400], false).is_none());
        }
    });
}

/// An owner in another namespace, whatever its number there.
#[test]
fn nobody_is_taken_for_gone_from_another_namespace() {
    loom::model(|| {
        let arena = Arc::new(Arena::left_by(1, 7, 2, false));
        for namespace in [8, 0] {
            assert!(arena.claim(namespace, 5, &[5], false).is_none());
        }
        let unknown = Arena::left_by(1, 0, 0, false);
        assert!(unknown.claim(0, 5, &[5], false).is_none());
    });
}

/// Saying that a process ends while another has taken the arena for left.
#[test]
fn goodbyes_do_not_take_an_arena_back() {
    loom::model(|| {
        let arena = Arc::new(Arena::left_by(1, 7, 100, false));
        let leaving = {
            let arena = arena.clone();
            thread::spawn(move || directory::leave(&arena.entry, ARENA, 1))
        };
        let mine = arena.claim(7, 200, &[200], false);
        leaving.join().unwrap();
        let now = Word(arena.entry.load(Ordering::SeqCst));
        assert_eq!(now.owner(), mine.unwrap_or(1));
        assert_eq!(now.arena(), ARENA);
        assert!(mine.is_none() || !now.is_leaving());
    });
}

#[test]
fn words_of_the_directory_are_used_once() {
    all_with_few_switches(|| {
        let (len, list) = (Arc::new(AtomicU32::new(0)), Arc::new(words::<2>()));
        let enlist = |arena: u32| {
            let (len, list) = (len.clone(), list.clone());
            thread::spawn(move || {
                directory::enlist(&len, 2, |index| &list[index as usize], Word::new(arena * 64, u64::from(arena)))
            })
        };
        let enlisted = [enlist(1), enlist(2), enlist(3)].map(|thread| thread.join().unwrap());
        let mut indices: Vec<_> = enlisted.into_iter().flatten().collect();
        indices.sort_unstable();
        assert_eq!(indices, [0, 1]);
        assert_eq!(len.load(Ordering::SeqCst), 2);
        let arenas: Vec<_> = list.iter().map(|word| Word(word.load(Ordering::SeqCst)).arena()).collect();
        assert!(arenas[0] != arenas[1] && arenas.iter().all(|arena| *arena != 0));
    });
}

#[test]
fn an_anchor_is_read_as_it_was_written() {
    all_with_few_switches(|| {
        let place = Arc::new(words::<3>());
        fn of(place: &[AtomicU64; 3]) -> anchors::Place<'_> {
            anchors::Place { ticks: &place[0], monotonic_ns: &place[1], check: &place[2] }
        }
        let moment = |number: u64| Anchor { ticks: number * 1_000_003, monotonic_ns: number * 777 };
        let write = |number: u64, is_killed: bool| {
            let place = place.clone();
            thread::spawn(move || match is_killed {
                false => of(&place).write(moment(number)),
                true => {
                    place[2].store(0, Ordering::Release);
                    place[0].store(moment(number).ticks, Ordering::Release);
                }
            })
        };
        let writers = [write(1, false), write(2, true)];
        for _ in 0..2 {
            let read = of(&place).read();
            assert!(read.is_none_or(|read| read == moment(1) || read == moment(2)), "{read:?}");
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
}

#[test]
fn modules_are_numbered_once_and_all_are_found() {
    loom::model(|| {
        let (head, numbers) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let links: Arc<[AtomicU32; 3]> = Arc::new(std::array::from_fn(|_| AtomicU32::new(0)));
        let add = |record: u32| {
            let (head, numbers, links) = (head.clone(), numbers.clone(), links.clone());
            thread::spawn(move || {
                let number = modules::number(&numbers);
                modules::link(&head, &links[record as usize], record);
                number
            })
        };
        let numbers = [add(1), add(2)].map(|thread| thread.join().unwrap());
        assert_ne!(numbers[0], numbers[1]);
        let first = head.load(Ordering::SeqCst);
        let second = links[first as usize].load(Ordering::SeqCst);
        assert_eq!((first.min(second), first.max(second), links[second as usize].load(Ordering::SeqCst)), (1, 2, 0));
    });
}

#[test]
fn calls_by_function_are_all_counted() {
    loom::model(|| {
        let table = Arc::new(words::<4>());
        let count = |functions: [u64; 2]| {
            let table = table.clone();
            thread::spawn(move || {
                let slot = |index: usize| (&table[index * 2], &table[index * 2 + 1]);
                functions.map(|function| by_function::count(2, slot, by_function::key(function, 1)))
            })
        };
        let counted = [count([0x1000, 0x2000]), count([0x2000, 0x1000])].map(|thread| thread.join().unwrap());
        assert!(counted.into_iter().flatten().all(|is_counted| is_counted));
        let mut calls: Vec<_> =
            (0..2).map(|i| (table[i * 2].load(Ordering::SeqCst), table[i * 2 + 1].load(Ordering::SeqCst))).collect();
        calls.sort_unstable();
        assert_eq!(calls, [(by_function::key(0x1000, 1), 2), (by_function::key(0x2000, 1), 2)]);
    });
}
