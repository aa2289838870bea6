//! Recording modes. A type each, so that each has hooks of its own and none asks which it is.

use crate::clock::{Clock, Gettime, Tsc};
use crate::frame::bits;
use core::marker::PhantomData;

/// How calls are recorded.
pub trait Mode {
    /// What tells the time.
    type Clock: Clock;
    /// [`bits`] of such a call.
    const BITS: u8;
}

/// Every call is timed.
pub struct Timed<C>(PhantomData<C>);

/// Calls are counted, and not timed.
pub struct Counted<C>(PhantomData<C>);

impl<C: Clock> Mode for Timed<C> {
    type Clock = C;
    const BITS: u8 = 0;
}

impl<C: Clock> Mode for Counted<C> {
    type Clock = C;
    const BITS: u8 = bits::COUNTED;
}

/// The usual mode.
pub type TimedByTsc = Timed<Tsc>;
/// The same without a time stamp counter.
pub type TimedByGettime = Timed<Gettime>;
/// Where no call is timed.
pub type CountedByTsc = Counted<Tsc>;
/// The same without a time stamp counter.
pub type CountedByGettime = Counted<Gettime>;
