//! Recordings that nobody thought of.

use super::*;

pub fn any_family() -> impl Strategy<Value = Family> {
    let times = prop::collection::vec(1u64..1 << 30, 0..20);
    (calls(), 1usize..4, 0u8..3, times, any::<prop::sample::Index>(), 1u64..4).prop_map(
        |(calls, fold_at, build_id, times, open, rate)| {
            let costs = Costs { inner: 2.3, outer: 3.1, error: 0.4, ..Costs::default() };
            let mut arena = arena(record(&calls, costs, fold_at));
            if !arena.nodes.is_empty() {
                let open = open.index(arena.nodes.len());
                arena.nodes.change(open, |node| node.slots[0].mark = 400 | mark::OPEN);
            }
            arena.functions = vec![function_of(0x1000, &times)];
            let mut family = family(vec![arena]);
            family.clock.hz = 1e9 + rate as f64 * 123_456.7;
            family.evidence = Evidence::of_costs(costs);
            family.modules[0].build_id = vec![build_id];
            family.read_ticks = 2000;
            family
        },
    )
}

pub fn frame(number: usize, family: &Family, labels: &[(&str, &str)], end: i64) -> Frame {
    let mut set = Labels::default();
    labels.iter().for_each(|(name, value)| set.set(name, (*value).to_owned()));
    Frame {
        labels: set,
        session: number.to_string(),
        sequence: 0,
        holds_later: true,
        start: 0,
        end,
        part: PartKey::of(family),
        summary: diytrace_profile::load::Summary::of(family),
        merged: merge(std::slice::from_ref(family), By::All, None),
    }
}
