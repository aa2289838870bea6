//! The sums of a path in three numbers, and what form they have.

use super::{Counts, OffCpu, PathId, Time};

/// A path: 48 bytes, of which there are millions.
#[derive(Clone, Copy, Default)]
pub(super) struct Packed {
    pub(super) parent: u32,
    pub(super) end: PathId,
    pub(super) call: u32,
    pub(super) folded_into: u32,
    pub(super) target: u32,
    pub(super) form: u32,
    pub(super) calls: u64,
    pub(super) own: i64,
    pub(super) inclusive: i64,
}

/// Sums as they are kept: the usual ones, or others.
#[derive(Debug, PartialEq)]
pub enum Sums {
    Usual(Usual),
    Other(Box<Counts>),
}

/// What the usual sums of a path follow from.
#[derive(Debug, PartialEq)]
pub struct Usual {
    pub(super) form: u32,
    pub(super) calls: u64,
    pub(super) own: i64,
    pub(super) inclusive: i64,
}

impl Sums {
    /// These.
    pub fn of(counts: &Counts) -> Self {
        Usual::of(counts).map_or_else(|| Self::Other(Box::new(*counts)), Self::Usual)
    }

    /// As they were told.
    pub fn counts(self) -> Counts {
        match self {
            Self::Usual(usual) => Packed::default().with(usual).usual(),
            Self::Other(counts) => *counts,
        }
    }
}

/// Stands for no path and no place.
pub(super) const NONE: u32 = u32::MAX;

/// What follows from the usual sums of a path, beside its calls having ended: bits of `Packed::form`.
pub(super) mod form {
    /// Nothing is known of its time off the processor.
    pub const UNSEEN: u32 = 1;
    /// No histogram has its calls.
    pub const UNBINNED: u32 = 2;
    /// [`Counts::is_between`](super::super::Counts::is_between).
    pub const BETWEEN: u32 = 4;
    /// All of its calls lie inside a folded recursion.
    pub const INSIDE: u32 = 8;
    /// Nothing: the sums are among the others, at the place that `calls` tells.
    pub const OTHER: u32 = 16;
}

pub(super) fn to_packed(number: Option<u32>) -> u32 {
    number.unwrap_or(NONE)
}

pub(super) fn from_packed(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

impl Packed {
    pub(super) fn usual(&self) -> Counts {
        let units = |units: i64| Time::from_units(units.into());
        let (calls, own, inclusive) = (self.calls, units(self.own), units(self.inclusive));
        let has = |bit: u32| self.form & bit != 0;
        Counts {
            calls,
            closed: calls,
            unbinned: if has(form::UNBINNED) { calls } else { 0 },
            is_between: has(form::BETWEEN),
            own,
            inclusive: self.inclusive(),
            closed_time: inclusive,
            off: if has(form::UNSEEN) { self.off() } else { OffCpu::default() },
            ..Counts::default()
        }
    }

    #[inline]
    pub(super) fn inclusive(&self) -> [Time; 2] {
        let inclusive = Time::from_units(self.inclusive.into());
        match self.form & form::INSIDE {
            0 => [inclusive, Time::ZERO],
            _ => [Time::ZERO, inclusive],
        }
    }

    /// If nothing is known of its time off the processor.
    pub(super) fn off(&self) -> OffCpu {
        OffCpu { unseen: Time::from_units(self.own.into()), ..OffCpu::default() }
    }

    /// With these sums.
    pub(super) fn with(self, usual: Usual) -> Self {
        let Usual { form, calls, own, inclusive } = usual;
        Self { form, calls, own, inclusive, ..self }
    }
}

impl Usual {
    /// Of calls that were all timed and have ended, none of them inside a folded recursion, with their times: `is_unseen` if nothing is
    /// known of time off the processor, and `is_binned` if a histogram has them.
    #[inline]
    pub fn of_ended(calls: u64, own: i64, inclusive: i64, is_unseen: bool, is_binned: bool) -> Self {
        let unseen = if is_unseen && own != 0 { form::UNSEEN } else { 0 };
        let unbinned = if !is_binned && calls != 0 { form::UNBINNED } else { 0 };
        Self { form: unseen | unbinned, calls, own, inclusive }
    }

    /// If these are usual: if nothing more can be told of them than that a path has had calls, which have ended, and times.
    pub(super) fn of(counts: &Counts) -> Option<Self> {
        let units = |time: Time| i64::try_from(time.units()).ok();
        let form = |bit: u32, is_so: bool| if is_so { bit } else { 0 };
        let is_unseen = counts.off.unseen != Time::ZERO;
        let is_inside = counts.inclusive[0] == Time::ZERO && counts.inclusive[1] != Time::ZERO;
        let form = form(form::UNSEEN, is_unseen)
            | form(form::UNBINNED, counts.unbinned != 0)
            | form(form::BETWEEN, counts.is_between)
            | form(form::INSIDE, is_inside);
        let (own, inclusive) = (units(counts.own)?, units(counts.inclusive[usize::from(is_inside)])?);
        let packed = Packed { form, calls: counts.calls, own, inclusive, ..Packed::default() };
        (packed.usual() == *counts).then_some(Self { form, calls: counts.calls, own, inclusive })
    }
}
