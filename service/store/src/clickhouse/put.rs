//! Puts frames in: each whole, and once; many together.

use std::time::Instant;

use diytrace_profile::merge::{PathId, PlaceId};
use rustc_hash::FxHashSet;

use super::binary::{Reader, Writer};
use super::dictionary::{self, News};
use super::literal::listed;
use super::store::{ClickHouse, TRUST};
use super::there::{self, There};
use super::write::{AT_ONCE, Data, Slice, bytes_of_head, write};
use crate::dictionary as local;
use crate::engine::{Put, Taken};
use crate::id::Id;
use crate::kept::{Head, MOST_SERIES, Sums, TOO_MANY_SERIES, bytes_of, timing_name};
use crate::moment::now_ns;
use crate::{Error, Frame, Received, parallel};

/// Most frames that are put in together.
const MOST_FRAMES: usize = 1000;

/// Puts frames in. One that is refused ends it, and those before it are in; after another error some are.
pub fn frames(store: &mut ClickHouse, frames: &[Frame]) -> Result<Vec<Put>, Error> {
    let mut puts = Vec::with_capacity(frames.len());
    let mut rest = frames;
    while !rest.is_empty() {
        let (some, others) = rest.split_at(together(rest));
        for put in tried(store, some, true)? {
            puts.push(put?);
        }
        rest = others;
    }
    Ok(puts)
}

/// The same of frames as they were sent: of each what became of it, and one more than the number of its recording's last frame. One
/// that is refused keeps no other out.
pub fn received(store: &mut ClickHouse, frames: &[Received]) -> Result<Vec<Taken>, Error> {
    let all = frames.iter().map(Received::frame).collect::<Result<Vec<Frame>, Error>>()?;
    let mut puts = Vec::with_capacity(all.len());
    let mut rest = &all[..];
    while !rest.is_empty() {
        let (some, others) = rest.split_at(together(rest));
        puts.extend(tried(store, some, false)?);
        rest = others;
    }
    let sessions: Vec<&str> = frames.iter().map(|frame| frame.session.as_str()).collect();
    let next = there::next_sequences(store, &sessions)?;
    Ok(puts.into_iter().zip(next).map(|(put, next)| put.map(|put| (put, next))).collect())
}

fn tried(store: &mut ClickHouse, frames: &[Frame], ends_with_refused: bool) -> Result<Vec<Refusable>, Error> {
    let put = once(store, frames, ends_with_refused);
    if put.is_err() {
        store.forget(); // what was numbered may not be there
    }
    store.make_room();
    put
}

/// What became of a frame, or why it alone is not in.
type Refusable = Result<Put, Error>;

/// How many of the first frames can be put in together: of each recording one, for the next may depend on it.
fn together(frames: &[Frame]) -> usize {
    let (mut sessions, mut paths) = (FxHashSet::default(), 0);
    let fits = frames.iter().take(MOST_FRAMES).take_while(|frame| {
        paths += frame.merged.groups.iter().map(|group| group.tree.paths.len()).sum::<usize>();
        sessions.insert(&frame.session) && (paths <= AT_ONCE || sessions.len() == 1)
    });
    fits.count()
}

/// Puts frames in, each of another recording. Where one that is refused ends it (`ends_with_refused`), the others after it have no answer.
fn once(store: &mut ClickHouse, frames: &[Frame], ends_with_refused: bool) -> Result<Vec<Refusable>, Error> {
    let ids: Vec<(u64, u64)> = frames.iter().map(ids_of).collect();
    let without_room = begin(store, frames, &ids)?;
    let mut there = there::all(store, frames)?;
    let (mut puts, mut numbered, mut news) = (Vec::with_capacity(frames.len()), Vec::new(), News::default());
    for (frame, (series, build)) in frames.iter().zip(&ids) {
        let there = there.remove(&frame.session).unwrap_or_default();
        let refused = match () {
            () if without_room.contains(series) => {
                Some(Error::Full { most: MOST_SERIES, what: "series", advice: TOO_MANY_SERIES })
            }
            () if there.known.is_newer_than(frame, calls(frame)) => {
                puts.push(Ok(Put::Known));
                continue;
            }
            () => there.known.needs_all(frame).then(|| Error::Overlap { session: frame.session.clone() }),
        };
        if let Some(error) = refused {
            puts.push(Err(error));
            if ends_with_refused {
                break;
            }
            continue;
        }
        let Some(known) = store.known.get_mut(build) else {
            return Err(store.damaged("what was read of its paths")); // it was made above
        };
        numbered.push((puts.len(), frame, *series, there, dictionary::number(&frame.merged, *build, known, &mut news)));
        puts.push(Ok(Put::Known)); // what becomes of it is known when its sums are
    }
    let made = parallel::each(numbered, |(at, frame, series, there, numbers)| {
        let data = data(frame, &numbers);
        let (put, slice) = slice(frame, &there, series, &data);
        (at, put, slice.map(|slice| (slice, data)))
    });
    let mut written = Vec::new();
    for (at, put, data) in made.ok_or_else(|| store.damaged("a frame that is put in"))? {
        puts[at] = Ok(put);
        written.extend(data);
    }
    news.put(store)?;
    write(store, &written)?;
    Ok(puts)
}

fn calls(frame: &Frame) -> u64 {
    frame.merged.groups.first().map_or(0, |group| group.calls)
}

fn data(frame: &Frame, numbers: &dictionary::Numbers) -> Data {
    // Frames keep the order of their paths and places; their numbers are beside them.
    let own = local::Numbers {
        places: (0..numbers.places.len() as PlaceId).collect(),
        paths: (0..numbers.paths.len() as PathId).collect(),
    };
    let parent = |path: u32| frame.merged.groups.first().and_then(|group| group.tree.paths.parent(path));
    Data::of(numbers, &Sums::of(frame, &own), bytes_of_head(&Head::of(frame)), parent)
}

/// What becomes of a frame, and what is written of it, if it is.
fn slice(frame: &Frame, there: &There, series: u64, data: &Data) -> (Put, Option<Slice>) {
    let told = Id::of("told").bytes(&data.head).number(series).number(frame.end as u64).finish();
    let is_same = there.sums == Some(data.digest) && there.known.later.is_none();
    if is_same && there.told == Some(told) {
        return (Put::Known, None);
    }
    // What this frame replaces may have held others.
    let later = there.known.later.map_or(0, |(_, ended)| ended);
    let (covers, holds) = match frame.holds_later {
        true => (frame.end.max(later).max(there.covers), there.holds.max(there.highest)),
        false => (there.covers, there.holds),
    };
    let slice = Slice {
        session: frame.session.clone(),
        sequence: frame.sequence,
        series,
        version: now_ns().max(there.version.saturating_add(1)),
        arrived: there.arrived.unwrap_or_else(|| now_ns() as i64),
        started: frame.start,
        ended: frame.end,
        covers,
        holds,
        told,
        replaces: there.id,
    };
    let put = match () {
        () if is_same && there.series.is_some_and(|of| of != series) => Put::Relabelled,
        () if is_same => Put::Known,
        () if there.sums.is_some() || there.known.later.is_some() => Put::Grown,
        () => Put::Added,
    };
    (put, Some(slice))
}

/// The numbers of a frame's series and build.
fn ids_of(frame: &Frame) -> (u64, u64) {
    let build = Id::of("build").bytes(&bytes_of(&frame.build())).finish();
    let (labels, part) = (frame.labels.to_json(), &frame.part);
    let id = Id::of("series").bytes(labels.as_bytes()).bytes(part.program.as_bytes()).bytes(&part.boot_id);
    (id.bytes(timing_name(part.timing).as_bytes()).number(build).finish(), build)
}

/// Makes the series that there are not yet. They are said to be in use before anything refers to them, and now and then after
/// that: so whoever sweeps leaves them and their dictionaries alone, even if they have no frame yet. Those that there is no room for.
fn begin(store: &mut ClickHouse, frames: &[Frame], ids: &[(u64, u64)]) -> Result<FxHashSet<u64>, Error> {
    let is_trusted = |since: Option<&Instant>| since.is_some_and(|since| since.elapsed() < TRUST);
    // In the order in which they come: so they are made in it.
    let (mut asked, mut is_asked) = (Vec::new(), FxHashSet::default());
    for (frame, (series, _)) in frames.iter().zip(ids) {
        if !is_trusted(store.in_use.get(series)) && is_asked.insert(*series) {
            asked.push((*series, frame));
        }
    }
    let mut without_room = FxHashSet::default();
    if !asked.is_empty() {
        let now = Instant::now();
        let rows = store.client.rows("SELECT toUInt64(uniqExact(id)) FROM series", &[])?;
        let count = Reader::of(&rows).u64().ok_or_else(|| store.damaged("its series"))?;
        let rows = store.client.rows(&format!("SELECT id FROM series WHERE id IN {}", listed(is_asked)), &[])?;
        let mut rows = Reader::of(&rows);
        let mut there = FxHashSet::default();
        while !rows.is_at_end() {
            there.insert(rows.u64().ok_or_else(|| store.damaged("its series"))?);
        }
        let room = MOST_SERIES.saturating_sub(count) as usize;
        let new = asked.iter().map(|(id, _)| *id).filter(|id| !there.contains(id));
        without_room = new.skip(room).collect();
        asked.retain(|(id, _)| !without_room.contains(id));
        let (mut used, mut made) = (Writer::default(), Writer::default());
        for (number, (id, frame)) in (0..).zip(&asked) {
            used.u64(*id);
            if !there.contains(id) {
                series_row(&mut made, *id, frame, now_ns() as i64 + number);
            }
        }
        store.client.insert("in_use (series)", &used.bytes)?;
        store.client.insert("series (id, labels, program, boot, timing, build, made)", &made.bytes)?;
        store.in_use.extend(asked.into_iter().map(|(id, _)| (id, now)));
    }
    for (_, build) in ids {
        if !is_trusted(store.known.get(build).map(|known| &known.since)) {
            store.known.remove(build);
            let known = dictionary::known(store, *build)?;
            store.known.insert(*build, known);
        }
    }
    Ok(without_room)
}

fn series_row(row: &mut Writer, id: u64, frame: &Frame, made: i64) {
    let part = &frame.part;
    row.u64(id);
    row.text(frame.labels.to_json().as_bytes());
    row.text(part.program.as_bytes());
    row.text(&part.boot_id);
    row.text(timing_name(part.timing).as_bytes());
    row.u64(ids_of(frame).1);
    row.i64(made);
}
