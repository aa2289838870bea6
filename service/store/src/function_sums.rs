//! What a frame has of functions, as bytes: few, as most follow from others.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | the rate of the clock that most histograms are by, in Hz, as a floating-point number |
//! | varint with sign | what was taken off each call for its own hooks, in 1/1024 ns |
//! | 2 × 8 | what was for hooks inside: of each call, and of each pair there; floating-point numbers of 1/1024 ns |
//! | varint | how many functions |
//! | for each: varint with sign | its place's number; of later ones, by how much it is more than the next |
//! | varint | what there is of it that is not as expected, see [`has`] |
//! | … | those; a histogram as [`Histogram::pack`] has it |
//!
//! [`Histogram::pack`]: diytrace_profile::histogram::Histogram::pack

use std::borrow::Cow;
use std::ops::Range;

use diytrace_profile::histogram::Histogram;
use diytrace_profile::merge::{Filed, FunctionTimes, Pairs, PlaceId};
use diytrace_profile::time::Time;
use diytrace_profile::varint::{get, get_signed, put, put_signed};

use flate2::Compression;

use crate::blob;
use crate::codec::Damaged;
use crate::kept::OfFunction;

/// How a column begins that is written so: deflated bytes never do.
const BEGINNING: u8 = 0b110;

/// What there is of a function.
mod has {
    /// Its histogram, and what comes with it.
    pub const TIMES: u16 = 1;
    /// What was taken off the calls in it: their time.
    pub const FILED: u16 = 1 << 1;
    /// Pairs inside, and of the usual number of pairs that belong to calls and those the rest.
    pub const OUTER: u16 = 1 << 2;
    pub const TAKEN_INSIDE: u16 = 1 << 3;
    pub const TIMELINES: u16 = 1 << 4;
    pub const PROCESSES: u16 = 1 << 5;
    pub const OPEN_BEFORE: u16 = 1 << 6;
    pub const RETURNED: u16 = 1 << 7;
    pub const FILED_CALLS: u16 = 1 << 8;
    pub const INNER: u16 = 1 << 9;
    pub const UNTIMED: u16 = 1 << 10;
    pub const TAKEN: u16 = 1 << 11;
    pub const ALL: u16 = (1 << 12) - 1;
}

/// What the numbers of all functions are expected by.
#[derive(Clone, Copy)]
struct Usual {
    hz: f64,
    /// Taken off a call for its own hooks.
    taken: i128,
    /// For those inside, of each call and of each pair: what was rounded, and what they cost.
    inside: [f64; 2],
}

impl Usual {
    /// From the functions that tell it most exactly.
    fn of<'a>(functions: impl Iterator<Item = &'a OfFunction<'a>> + Clone, hz: f64) -> Self {
        let all = || functions.clone().filter_map(|function| function.filed).filter(|filed| filed.calls > 0);
        let most = |number: fn(&Filed) -> i128| all().max_by_key(number);
        let leaf = most(|filed| if filed.pairs.outer == 0 { filed.calls.into() } else { -1 });
        let each = leaf.map_or(0.0, |leaf| ratio(leaf.taken_inside.units(), leaf.calls.into()));
        let caller = most(|filed| filed.pairs.outer.into()).filter(|caller| caller.pairs.outer > 0);
        let of_pair = caller.map_or(0.0, |caller| {
            let of_calls = (each * caller.calls as f64).round() as i128;
            ratio(caller.taken_inside.units().saturating_sub(of_calls), caller.pairs.outer.into())
        });
        let taken = leaf.or(caller).map_or(0, |filed| filed.taken.units() / i128::from(filed.calls));
        Self { hz, taken, inside: [each, of_pair] }
    }

    fn read(rest: &mut &[u8]) -> Option<Self> {
        Some(Self { hz: float(rest)?, taken: get_signed(rest)?, inside: [float(rest)?, float(rest)?] })
    }

    fn taken(&self, calls: u64) -> i128 {
        self.taken.wrapping_mul(calls.into())
    }

    fn taken_inside(&self, calls: u64, outer: i64) -> i128 {
        (self.inside[0] * calls as f64 + self.inside[1] * outer as f64).round() as i128
    }
}

fn ratio(part: i128, of: i128) -> f64 {
    part as f64 / of as f64
}

/// Writes what there is of functions, by their places' numbers. `hz`: the rate of the clock that they are probably by.
pub fn encode(functions: &[OfFunction], hz: f64) -> Vec<u8> {
    encode_by(functions.iter().map(|function| (function.place, function)), hz)
}

/// The same, of places with other numbers.
pub fn encode_by<'a>(
    functions: impl ExactSizeIterator<Item = (PlaceId, &'a OfFunction<'a>)> + Clone,
    hz: f64,
) -> Vec<u8> {
    let usual = Usual::of(functions.clone().map(|(_, function)| function), hz);
    let mut bytes = Vec::with_capacity(64 + functions.len() * 24);
    bytes.extend(hz.to_le_bytes());
    put_signed(&mut bytes, usual.taken);
    usual.inside.into_iter().for_each(|inside| bytes.extend(inside.to_le_bytes()));
    put(&mut bytes, functions.len() as u128);
    let mut next = 0i128;
    let mut of = Encoding::default();
    for (place, OfFunction { times, filed, .. }) in functions {
        put_signed(&mut bytes, i128::from(place) - next);
        next = i128::from(place) + 1;
        of.has = 0;
        of.bytes.clear();
        if let Some(times) = times {
            of.times(times, &usual);
        }
        if let Some(filed) = filed {
            of.filed(filed, times.as_deref().map_or(0, |times| times.histogram.returned()), &usual);
        }
        put(&mut bytes, of.has.into());
        bytes.extend(&of.bytes);
    }
    bytes
}

/// What there is of a function, on the way.
#[derive(Default)]
struct Encoding {
    has: u16,
    bytes: Vec<u8>,
}

impl Encoding {
    /// A number that is not as expected.
    fn number(&mut self, has: u16, number: i128, expected: i128) {
        if number != expected {
            self.has |= has;
            put_signed(&mut self.bytes, number.wrapping_sub(expected));
        }
    }

    fn times(&mut self, times: &FunctionTimes, usual: &Usual) {
        let FunctionTimes { histogram, returned, open_before, processes, timelines } = times;
        self.has |= has::TIMES;
        histogram.pack(usual.hz, &mut self.bytes);
        if !timelines.is_empty() {
            self.has |= has::TIMELINES;
            let all = postcard::to_stdvec(timelines).unwrap_or_default(); // into memory: it cannot fail
            put(&mut self.bytes, all.len() as u128);
            self.bytes.extend(all);
        }
        self.number(has::PROCESSES, (*processes).into(), 1);
        self.number(has::OPEN_BEFORE, (*open_before).into(), 0);
        self.number(has::RETURNED, (*returned).into(), histogram.returned().into());
    }

    fn filed(&mut self, filed: &Filed, returned: u64, usual: &Usual) {
        let Filed { calls, time, taken, taken_inside, pairs } = filed;
        let Pairs { inner, outer, untimed } = *pairs;
        self.has |= has::FILED;
        put_signed(&mut self.bytes, time.units());
        self.number(has::OUTER, outer.into(), 0);
        self.number(has::FILED_CALLS, (*calls).into(), returned.into());
        self.number(has::INNER, inner.into(), i128::from(*calls) + i128::from(outer));
        self.number(has::UNTIMED, untimed.into(), 0);
        self.number(has::TAKEN, taken.units(), usual.taken(*calls));
        self.number(has::TAKEN_INSIDE, taken_inside.units(), usual.taken_inside(*calls, outer));
    }
}

/// As a column has them: deflated.
pub fn column(functions: &[OfFunction], hz: f64, level: Compression) -> Vec<u8> {
    deflated(&encode(functions, hz), level)
}

/// The same of what was written already.
pub fn deflated(encoded: &[u8], level: Compression) -> Vec<u8> {
    [&[BEGINNING], &blob::deflated(encoded, level)[..]].concat()
}

/// Reads a column. `bytes`: for one after the other.
pub fn read_column(
    column: &[u8],
    places: u32,
    bytes: &mut Vec<u8>,
    take: impl FnMut(OfFunction<'static>),
) -> Result<(), Damaged> {
    match column.split_first() {
        Some((&BEGINNING, deflated)) => {
            blob::inflate(deflated, bytes).ok_or(Damaged)?;
            decode(bytes, places, take)
        }
        // As stores before version 5 have them.
        _ => {
            let all: Vec<OfFunction> = blob::read(column).ok_or(Damaged)?;
            all.into_iter().for_each(take);
            Ok(())
        }
    }
}

/// Reads what there is of functions, from bytes that anybody may have written; `places` is how many there are.
pub fn decode(bytes: &[u8], places: u32, mut take: impl FnMut(OfFunction<'static>)) -> Result<(), Damaged> {
    decoded(bytes, places, unpack, |function, _| take(function)).ok_or(Damaged).map(drop)
}

/// Looks through such bytes without making anything of histograms: where in them what there is of each function lies, by places.
/// What lies before the first is not of functions.
pub fn look_through(bytes: &[u8], places: u32, mut take: impl FnMut(PlaceId, Range<usize>)) -> Result<(), Damaged> {
    let skip = |hz: f64, rest: &mut &[u8]| Some((Histogram::default(), Histogram::skip(hz, rest)?));
    decoded(bytes, places, skip, |function, range| take(function.place, range)).ok_or(Damaged)
}

/// The same bytes, of places with other numbers: `functions` are those, in their order, and where each lies.
pub fn renumbered(bytes: &[u8], functions: &[(PlaceId, Range<usize>)]) -> Option<Vec<u8>> {
    let mut rest = bytes;
    Usual::read(&mut rest)?;
    let mut renumbered = Vec::with_capacity(bytes.len() + functions.len());
    renumbered.extend(&bytes[..bytes.len() - rest.len()]);
    put(&mut renumbered, functions.len() as u128);
    let mut next = 0i128;
    for (place, range) in functions {
        put_signed(&mut renumbered, i128::from(*place) - next);
        next = i128::from(*place) + 1;
        renumbered.extend(bytes.get(range.clone())?);
    }
    Some(renumbered)
}

/// What there is of one function: it lies there in the bytes.
pub fn one(bytes: &[u8], place: PlaceId, range: Range<usize>) -> Option<OfFunction<'static>> {
    let usual = Usual::read(&mut &bytes[..])?;
    of_function(&mut bytes.get(range)?, place, &usual, unpack)
}

/// A histogram, and how many calls are in it.
fn unpack(hz: f64, rest: &mut &[u8]) -> Option<(Histogram, u64)> {
    let histogram = Histogram::unpack(hz, rest)?;
    let returned = histogram.returned();
    Some((histogram, returned))
}

fn decoded(
    bytes: &[u8],
    places: u32,
    mut read: impl FnMut(f64, &mut &[u8]) -> Option<(Histogram, u64)>,
    mut take: impl FnMut(OfFunction<'static>, Range<usize>),
) -> Option<()> {
    let mut rest = bytes;
    let usual = Usual::read(&mut rest)?;
    let mut next = 0i128;
    for _ in 0..get(&mut rest)? {
        let place = next.checked_add(get_signed(&mut rest)?)?;
        next = place.checked_add(1)?;
        let place = PlaceId::try_from(place).ok().filter(|place| *place < places)?;
        let start = bytes.len() - rest.len();
        let function = of_function(&mut rest, place, &usual, &mut read)?;
        take(function, start..bytes.len() - rest.len());
    }
    rest.is_empty().then_some(())
}

fn of_function(
    rest: &mut &[u8],
    place: PlaceId,
    usual: &Usual,
    read: impl FnMut(f64, &mut &[u8]) -> Option<(Histogram, u64)>,
) -> Option<OfFunction<'static>> {
    let has = u16::try_from(get(rest)?).ok().filter(|has| has & !has::ALL == 0)?;
    let mut of = Decoding { has, rest };
    let (times, returned) = match has & has::TIMES {
        0 => (None, 0),
        _ => of.times(usual, read).map(|(times, returned)| (Some(Cow::Owned(times)), returned))?,
    };
    let filed = if has & has::FILED != 0 { Some(of.filed(returned, usual)?) } else { None };
    Some(OfFunction { place, times, filed })
}

fn float(rest: &mut &[u8]) -> Option<f64> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(f64::from_le_bytes(*bytes))
}

/// What there is of a function, as it is read.
struct Decoding<'a, 'b> {
    has: u16,
    rest: &'a mut &'b [u8],
}

impl Decoding<'_, '_> {
    fn number(&mut self, has: u16, expected: i128) -> Option<i128> {
        if self.has & has == 0 { Some(expected) } else { Some(expected.wrapping_add(get_signed(self.rest)?)) }
    }

    /// With how many calls are in the histogram.
    fn times(
        &mut self,
        usual: &Usual,
        mut read: impl FnMut(f64, &mut &[u8]) -> Option<(Histogram, u64)>,
    ) -> Option<(FunctionTimes, u64)> {
        let (histogram, returned) = read(usual.hz, self.rest)?;
        let mut times = FunctionTimes { histogram, ..FunctionTimes::default() };
        if self.has & has::TIMELINES != 0 {
            let len = usize::try_from(get(self.rest)?).ok()?;
            times.timelines = postcard::from_bytes(self.rest.split_off(..len)?).ok()?;
        }
        times.processes = u64::try_from(self.number(has::PROCESSES, 1)?).ok()?;
        times.open_before = i64::try_from(self.number(has::OPEN_BEFORE, 0)?).ok()?;
        times.returned = u64::try_from(self.number(has::RETURNED, returned.into())?).ok()?;
        Some((times, returned))
    }

    fn filed(&mut self, returned: u64, usual: &Usual) -> Option<Filed> {
        let time = Time::from_units(get_signed(self.rest)?);
        let outer = i64::try_from(self.number(has::OUTER, 0)?).ok()?;
        let calls = u64::try_from(self.number(has::FILED_CALLS, returned.into())?).ok()?;
        let inner = i64::try_from(self.number(has::INNER, i128::from(calls) + i128::from(outer))?).ok()?;
        let untimed = i64::try_from(self.number(has::UNTIMED, 0)?).ok()?;
        let taken = Time::from_units(self.number(has::TAKEN, usual.taken(calls))?);
        let taken_inside = Time::from_units(self.number(has::TAKEN_INSIDE, usual.taken_inside(calls, outer))?);
        Some(Filed { calls, time, taken, taken_inside, pairs: Pairs { inner, outer, untimed } })
    }
}

#[cfg(test)]
mod tests {
    use diytrace_profile::load::costs::Costs;
    use diytrace_profile::merge::{By, merge};
    use diytrace_profile::testing::{Call, arena, calls, family, function_of, record};
    use proptest::prelude::*;

    use super::*;
    use crate::dictionary::Numbers;
    use crate::kept::Sums;
    use crate::recording::frame;

    fn same(functions: &[OfFunction], hz: f64) {
        let bytes = encode(functions, hz);
        let mut read = Vec::new();
        decode(&bytes, u32::MAX, |function| read.push(function)).unwrap();
        assert_eq!(read, functions);
        let mut lie = Vec::new();
        look_through(&bytes, u32::MAX, |place, range| lie.push((place, range))).unwrap();
        for (function, (place, range)) in functions.iter().zip(&lie) {
            assert_eq!(one(&bytes, *place, range.clone()).as_ref(), Some(function));
        }
        // Under other numbers, in another order: as if it had been written so.
        let mut others: Vec<(PlaceId, usize)> =
            lie.iter().enumerate().map(|(at, (place, _))| (place.wrapping_mul(2_654_435_761) >> 1, at)).collect();
        others.sort_unstable();
        let written = encode_by(others.iter().map(|(place, at)| (*place, &functions[*at])), hz);
        let others: Vec<(PlaceId, Range<usize>)> =
            others.into_iter().map(|(place, at)| (place, lie[at].1.clone())).collect();
        assert_eq!(renumbered(&bytes, &others).unwrap(), written);
    }

    #[test]
    fn what_follows_from_other_numbers_takes_no_room() {
        let leaf = || Call { function: 0x1100, own: 100, callees: Vec::new() };
        let all: Vec<Call> =
            (0..3).map(|_| Call { function: 0x1000, own: 500, callees: vec![leaf(), leaf()] }).collect();
        let costs = Costs { inner: 2.3, outer: 3.1, ..Costs::default() };
        let mut arena = arena(record(&all, costs, 3));
        arena.nodes.change_each(|_, node| node.has_histogram = true);
        arena.functions = vec![function_of(0x1000, &[700; 3]), function_of(0x1100, &[100; 6])];
        let frame = frame(None, &family(vec![arena]), &Default::default());
        let merged = &frame.merged;
        let numbers = Numbers {
            places: (0..merged.places.len() as u32).collect(),
            paths: (0..merged.groups[0].tree.paths.len() as u32).collect(),
        };
        let sums = Sums::of(&frame, &numbers);
        assert_eq!(sums.functions.len(), 2);
        let bytes = encode(&sums.functions, sums.hz);
        // What all have in common; of each its place, what there is, the histogram (8 bytes) and its time, and the caller's pairs.
        assert!(bytes.len() <= 28 + 2 * (2 + 8 + 4) + 1, "{}: {bytes:?}", bytes.len());
        same(&sums.functions, sums.hz);
    }

    #[test]
    fn columns_of_older_stores_are_read() {
        let times = FunctionTimes { returned: 7, processes: 2, ..FunctionTimes::default() };
        let filed = Filed { calls: 7, time: Time::from_ns(90.0), ..Filed::default() };
        let older = blob::write(&vec![(3u32, Some(times.clone()), Some(filed))], blob::LASTING);
        let all = [OfFunction { place: 3, times: Some(Cow::Owned(times)), filed: Some(filed) }];
        for column in [older, column(&all, 1e9, blob::LASTING)] {
            let mut read = Vec::new();
            read_column(&column, 10, &mut Vec::new(), |function| read.push(function)).unwrap();
            assert_eq!(read, all);
        }
    }

    proptest! {
        #[test]
        fn any_are_read_as_they_were_written(
            calls in calls(),
            times in prop::collection::vec(1u64..5000, 0..6),
            numbers in any::<[i32; 8]>(),
            hz in 1e9..4e9f64,
        ) {
            let costs = Costs { inner: 2.3, outer: 3.1, ..Costs::default() };
            let mut arena = arena(record(&calls, costs, 3));
            arena.functions = vec![function_of(0x1000, &times), function_of(0x1100, &times[..times.len() / 2])];
            let merged = merge(&[family(vec![arena])], By::All, None);
            let group = &merged.groups[0];
            let [a, b, c, d, e, f, g, h] = numbers.map(i128::from);
            let odd = Filed {
                calls: a.unsigned_abs() as u64,
                time: Time::from_units(b << 40),
                taken: Time::from_units(c),
                taken_inside: Time::from_units(d),
                pairs: Pairs { inner: e as i64, outer: f as i64, untimed: g as i64 },
            };
            let mut functions: Vec<OfFunction> = Vec::new();
            for (place, times) in &group.functions {
                let filed = group.parts[0].filed.get(place).copied();
                functions.push(OfFunction { place: *place, times: Some(Cow::Borrowed(times)), filed });
            }
            functions.push(OfFunction { place: 1000, times: None, filed: Some(odd) });
            let counts = FunctionTimes { returned: a.unsigned_abs() as u64, open_before: h as i64, ..FunctionTimes::default() };
            functions.push(OfFunction { place: 900, times: Some(Cow::Owned(counts)), filed: None });
            same(&functions, hz);
            same(&functions, 1e9);
        }

        #[test]
        fn damage_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let header = [&1e9f64.to_le_bytes()[..], &[0], &[0; 16]].concat();
            let all = [header, bytes.clone()].concat();
            for bytes in [bytes, all] {
                let read = decode(&bytes, 100, |function| assert!(function.place < 100));
                assert_eq!(look_through(&bytes, 100, |_, _| ()), read, "both find the same bytes to be damaged");
            }
        }
    }
}
