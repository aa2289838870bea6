//! Which of the calls in a ring are open: told by stack pointers, as the recorder does of calls that it does not only note.

use crate::ring::Event;

/// A call that was entered and has not returned yet.
pub trait Open {
    /// Its entry.
    fn entry(&self) -> Event;
}

/// How many of the open calls, the outermost first, are still open where another is entered. The others were left: an exception,
/// `longjmp`.
pub fn staying<T: Open>(open: &[T], entry: &Event) -> usize {
    let Some(latest) = open.last().map(Open::entry) else { return 0 };
    if latest.sp > entry.sp || is_inlined(open, entry) {
        return open.len();
    }
    let not_below = |call: &T| call.entry().sp >= entry.sp;
    let count = open.iter().rposition(not_below).map_or(0, |last| last + 1);
    let same_frame = open[..count].iter().rev().take_while(|call| call.entry().sp == entry.sp).count();
    // In the same physical frame: what another call of that frame, or the same hook, has left.
    let was_left = |call: &T| call.entry().site != entry.site || is_same_hook(&call.entry(), entry);
    let kept = open[count - same_frame..count].iter().position(was_left);
    kept.map_or(count, |kept| count - same_frame + kept)
}

/// Whether a function entered at the same stack pointer as the latest open call is part of its body.
fn is_inlined<T: Open>(open: &[T], entry: &Event) -> bool {
    let same_frame = || open.iter().rev().map(Open::entry).take_while(|call| call.sp == entry.sp);
    let is_above =
        open.iter().rev().map(Open::entry).find(|call| call.sp != entry.sp).is_none_or(|call| call.sp > entry.sp);
    is_above
        && same_frame().next().is_some()
        && same_frame().all(|call| call.site == entry.site && !is_same_hook(&call, entry))
}

fn is_same_hook(one: &Event, other: &Event) -> bool {
    one.hook as u32 == other.hook as u32
}

/// What an exit leaves of the open calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The call at this place returns, and those inside it were left.
    Returns(usize),
    /// None of them returns. So many are still open.
    Stray(usize),
}

/// Which of the open calls, which are made from one with this stack pointer, an exit is of.
pub fn returning<T: Open>(open: &[T], base_sp: u64, exit: &Event) -> Left {
    let is_tail = exit.hook == exit.site;
    let sp = |place: usize| open[place].entry().sp;
    let is_of = |place: usize| open[place].entry().function == exit.function;
    let mut count = open.len();
    if count > 0 && sp(count - 1) == exit.sp && is_of(count - 1) {
        return Left::Returns(count - 1);
    }
    // Left or exited: what lies below the stack pointer. A tail exit's own frame is the outermost of them.
    while count > 0 && sp(count - 1) < exit.sp {
        let below = if count > 1 { sp(count - 2) } else { base_sp };
        if is_tail && below >= exit.sp && is_of(count - 1) {
            return Left::Returns(count - 1);
        }
        count -= 1;
    }
    let gone = count;
    while count > 0 && sp(count - 1) == exit.sp && !is_tail {
        if is_of(count - 1) {
            return Left::Returns(count - 1);
        }
        count -= 1;
    }
    // A function that moves its stack pointer (`alloca`) exits below where it entered.
    let may_have_moved = !is_tail && count == open.len() && count > 0 && sp(count - 1) > exit.sp;
    if may_have_moved && is_of(count - 1) && open[count - 1].entry().site == exit.site {
        return Left::Returns(count - 1);
    }
    Left::Stray(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Open for Event {
        fn entry(&self) -> Event {
            *self
        }
    }

    fn event(function: u64, site: u64, hook: u64, sp: u64) -> Event {
        Event { function, site, hook, sp }
    }

    #[test]
    fn calls_are_open_until_a_call_further_out_makes_another() {
        let open = [event(1, 10, 11, 100), event(2, 20, 21, 80), event(3, 30, 31, 60)];
        assert_eq!(staying(&open, &event(4, 40, 41, 40)), 3);
        assert_eq!(staying(&open, &event(4, 40, 41, 60)), 2);
        assert_eq!(staying(&open, &event(4, 40, 41, 90)), 1);
    }

    #[test]
    fn a_body_in_the_same_frame_is_inside_it_unless_its_hook_comes_again() {
        let open = [event(1, 10, 11, 100), event(2, 10, 12, 100)];
        assert_eq!(staying(&open, &event(3, 10, 13, 100)), 2);
        assert_eq!(staying(&open, &event(2, 10, 12, 100)), 1);
        assert_eq!(staying(&open, &event(9, 90, 91, 100)), 0);
    }

    #[test]
    fn an_exit_ends_the_call_of_its_frame() {
        let open = [event(1, 10, 11, 100), event(2, 20, 21, 80), event(3, 30, 31, 60)];
        assert_eq!(returning(&open, 200, &event(3, 30, 32, 60)), Left::Returns(2));
        assert_eq!(returning(&open, 200, &event(2, 20, 22, 80)), Left::Returns(1));
        assert_eq!(returning(&open, 200, &event(3, 30, 30, 80)), Left::Returns(2));
        assert_eq!(returning(&open, 200, &event(3, 30, 32, 40)), Left::Returns(2));
        assert_eq!(returning(&open, 200, &event(9, 30, 32, 80)), Left::Stray(2));
    }
}
