//! Whatever bytes are sent in place of a frame, it is refused, or can be put into a store; nothing worse.
//!
//! As many are tried as `DIYTRACE_EXECUTIONS` says: `fuzz/million.sh`.

use diytrace_profile::load::Summary;
use diytrace_profile::load::costs::Costs;
use diytrace_profile::merge::{By, PartKey, merge};
use diytrace_profile::testing::{Call, Mutations, arena, family, function_of, record};

use super::*;
use crate::dictionary::Dictionary;
use crate::kept::Sums;
use crate::{Address, GroupBy, Labels, Query, codec, open};

/// Larger ones are refused.
const MOST: u64 = 1 << 20;

fn real(calls: u64) -> Frame {
    let leaf = |function| Call { function, own: 10, callees: Vec::new() };
    let call = |at: u64| Call {
        function: 0x1000 + 16 * (at % 5),
        own: at,
        callees: vec![leaf(0x2000), leaf(0x2010 + at % 3)],
    };
    let calls: Vec<Call> = (0..calls).map(call).collect();
    let mut arena = arena(record(&calls, Costs::default(), 3));
    arena.functions = vec![function_of(0x2000, &[10, 20, 3000]), function_of(0x1000, &[1 << 40, 7])];
    let family = family(vec![arena]);
    let mut labels = Labels::default();
    labels.set("service", "s".to_owned());
    Frame {
        labels,
        session: "one".to_owned(),
        sequence: 3,
        holds_later: false,
        start: 0,
        end: 10,
        part: PartKey::of(&family),
        summary: Summary::of(&family),
        merged: merge(&[family], By::All, None),
    }
}

/// What a frame is before it is deflated.
fn inflated(frame: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    blob::inflate(&frame[12..], &mut bytes).unwrap();
    bytes
}

/// A frame, and those that tell what is new after it.
fn sent() -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut outgoing = Outgoing::default();
    let first = outgoing.encode(&real(2));
    outgoing.acknowledged();
    (first, [1, 4, 40].map(|calls| inflated(&outgoing.encode(&real(calls)))).into())
}

/// All that is done with a frame before the engine has it.
fn digest(frame: &Frame) {
    let mut dictionary = Dictionary::default();
    let modules: Vec<i64> = (0..).take(frame.merged.modules.len()).collect();
    let numbers = dictionary.number(&frame.merged, &modules);
    let sums = Sums::of(frame, &numbers);
    codec::encode(&sums.rows, |path| dictionary.parent(path));
    let _ = (frame.build(), frame.labels.to_json(), encode(frame));
}

#[test]
fn bytes_that_are_nearly_a_frame_do_no_harm() {
    let whole = [1, 4, 40].map(|calls| inflated(&encode(&real(calls))));
    let (first, later) = sent();
    let seeds = [whole.into(), later].concat();
    let decode = |bytes: &[u8]| {
        let incoming = Incoming::default();
        incoming.decode(&first, MOST).unwrap();
        incoming.decode(bytes, MOST)
    };
    for seed in &seeds {
        assert!(decode(&envelope(FRAME, seed, LASTING)).is_ok(), "a seed is no frame");
    }
    let folder = tempfile::tempdir().unwrap();
    let store: Address = folder.path().join("store.db").display().to_string().parse().unwrap();
    let mut store = open(&store, true).unwrap();
    let mut mutations = Mutations::new();
    let executions = Mutations::executions(3000);
    let mut taken = 0;
    for _ in 0..executions {
        let [seed, other] = [0, 1].map(|_| &seeds[mutations.below(seeds.len())]);
        let changed = mutations.of(seed, other);
        // Most of them as a sender would pack them, some with packing that is damaged.
        let bytes = match mutations.below(16) {
            0 => mutations.of(&envelope(FRAME, seed, LASTING), other),
            _ => envelope(FRAME, &changed, LASTING),
        };
        if let Ok(mut received) = decode(&bytes) {
            let frame = received.frame().unwrap_or_else(|error| panic!("it was taken, and cannot be: {error}"));
            digest(&frame);
            received.sequence = 0; // nothing is there that it would follow
            assert!(store.put_received(&[received]).unwrap().iter().all(Result::is_ok));
            // What was taken damages no store.
            store.select(&Query::default(), &GroupBy::All).unwrap();
            store.delete(&Query::default()).unwrap();
            taken += 1;
        }
    }
    eprintln!("{executions} executions, {taken} of them taken for frames");
    assert!(taken > 0, "no mutation gets past the first check");
}
