//! The ways to record a call. A type each, so that each has hooks of its own and none asks which it is.

use crate::clock::{Clock, Gettime, Tsc};
use crate::frame::bits;
use core::marker::PhantomData;

/// A way to record calls.
pub trait Way {
    /// What tells the time.
    type Clock: Clock;
    /// [`bits`] of such a call.
    const BITS: u8;
}

/// Every call is timed.
pub struct Timed<C>(PhantomData<C>);

/// Calls are counted, and not timed.
pub struct Counted<C>(PhantomData<C>);

impl<C: Clock> Way for Timed<C> {
    type Clock = C;
    const BITS: u8 = 0;
}

impl<C: Clock> Way for Counted<C> {
    type Clock = C;
    const BITS: u8 = bits::COUNTED;
}

/// The usual way.
pub type TimedByTsc = Timed<Tsc>;
/// The same without a time stamp counter.
pub type TimedByGettime = Timed<Gettime>;
/// Where no call is timed.
pub type CountedByTsc = Counted<Tsc>;
/// The same without a time stamp counter.
pub type CountedByGettime = Counted<Gettime>;
