//! Which of the calls in a ring are open: told by stack pointers, as the recorder does of calls that it does not only note.

use crate::ring::Event;

/// A call that was entered and has not returned yet.
pub trait Open {
    /// Its entry.
    fn entry(&self) -> Event;
}

/// How many of the open calls, the outermost first, are still open where another is entered. The others were left: an exception,
/// `longjmp`. They are made from one that was entered as `base` says.
pub fn staying<T: Open>(open: &[T], base: &Event, entry: &Event) -> usize {
    let Some(latest) = open.last().map(Open::entry) else { return 0 };
    if latest.sp > entry.sp || is_inlined(open, entry) || is_in_raised_body(open, base, entry) {
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

/// The call in whose frame the latest open one is a body, and how many bodies there are. They may have been entered at lower stack
/// pointers than it was: where they are inlined behind a call, with that one's arguments still on the stack.
fn owner<T: Open>(open: &[T], base: &Event) -> (Event, usize) {
    let may_be_body_of = |(call, below): &(Event, Event)| {
        call.site == below.site && !is_same_hook(call, below) && call.function != below.function
    };
    let calls = || open.iter().rev().map(Open::entry).chain([*base]);
    let bodies = calls().zip(calls().skip(1)).take_while(may_be_body_of).count();
    (calls().nth(bodies).unwrap_or(*base), bodies)
}

/// The stack pointer of the frame that the latest open call, or the base, has.
pub fn frame_sp<T: Open>(open: &[T], base: &Event) -> u64 {
    owner(open, base).0.sp
}

/// Whether a function is entered from such a body, or as another one in it.
fn is_in_raised_body<T: Open>(open: &[T], base: &Event, entry: &Event) -> bool {
    let (owner, bodies) = owner(open, base);
    let is_beside = |call: Event| call.site == entry.site && !is_same_hook(&call, entry);
    let is_another = || is_beside(owner) && open.iter().rev().take(bodies).all(|call| is_beside(call.entry()));
    bodies > 0 && (owner.sp > entry.sp || owner.sp == entry.sp && is_another())
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

/// Which of the open calls an exit is of, which are made from one that was entered as `base` says. `is_of_part`: whether it lies in a part
/// that was split off a function whose call was entered so.
pub fn returning<T: Open>(open: &[T], base: &Event, exit: &Event, is_of_part: impl FnOnce(&Event) -> bool) -> Left {
    let is_tail = exit.hook == exit.site;
    let sp = |place: usize| open[place].entry().sp;
    let is_of = |place: usize| open[place].entry().function == exit.function;
    let mut count = open.len();
    if count > 0 && sp(count - 1) == exit.sp && is_of(count - 1) {
        return Left::Returns(count - 1);
    }
    // Left or exited: what lies below the stack pointer. A tail exit's own frame is the outermost of them. A body that is inlined
    // behind a call is entered below, where that one's arguments are still on the stack.
    let mut raised = None;
    while count > 0 && sp(count - 1) < exit.sp {
        if is_tail && is_of(count - 1) && owner(&open[..count - 1], base).0.sp >= exit.sp {
            return Left::Returns(count - 1);
        }
        if !is_tail && raised.is_none() && is_of(count - 1) && open[count - 1].entry().site == exit.site {
            raised = Some(count - 1);
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
    if let Some(raised) = raised {
        return Left::Returns(raised);
    }
    // A function that moves its stack pointer (`alloca`) exits below where it entered, and so does one that is split, in its other part.
    let may_have_moved = !is_tail && count == open.len() && count > 0 && sp(count - 1) > exit.sp;
    let is_its = |entry: &Event| entry.site == exit.site || is_of_part(entry);
    if may_have_moved && is_of(count - 1) && is_its(&open[count - 1].entry()) {
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

    const BASE: Event = Event { function: 0, site: 0, hook: 0, sp: 200 };

    #[test]
    fn calls_are_open_until_a_call_further_out_makes_another() {
        let open = [event(1, 10, 11, 100), event(2, 20, 21, 80), event(3, 30, 31, 60)];
        assert_eq!(staying(&open, &BASE, &event(4, 40, 41, 40)), 3);
        assert_eq!(staying(&open, &BASE, &event(4, 40, 41, 60)), 2);
        assert_eq!(staying(&open, &BASE, &event(4, 40, 41, 90)), 1);
    }

    #[test]
    fn a_body_in_the_same_frame_is_inside_it_unless_its_hook_comes_again() {
        let open = [event(1, 10, 11, 100), event(2, 10, 12, 100)];
        assert_eq!(staying(&open, &BASE, &event(3, 10, 13, 100)), 2);
        assert_eq!(staying(&open, &BASE, &event(2, 10, 12, 100)), 1);
        assert_eq!(staying(&open, &BASE, &event(9, 90, 91, 100)), 0);
    }

    #[test]
    fn a_body_entered_with_arguments_on_the_stack_stays_open_without_them() {
        let (base, body) = (event(1, 10, 11, 100), event(2, 10, 12, 84));
        for (open, base) in [(&[base, body][..], BASE), (&[body], base)] {
            let all = open.len();
            assert_eq!(staying(open, &base, &event(3, 10, 13, 100)), all, "a body inside it");
            assert_eq!(staying(open, &base, &event(4, 40, 41, 90)), all, "a call that it makes");
            assert_eq!(staying(open, &base, &event(2, 10, 12, 100)), all - 1, "the same body once more");
            assert_eq!(returning(open, &base, &event(2, 10, 14, 100), |_| false), Left::Returns(all - 1));
            let call = [open, &[event(4, 40, 41, 70)]].concat();
            assert_eq!(returning(&call, &base, &event(4, 40, 40, 92), |_| false), Left::Returns(all), "a tail exit");
        }
        // Recursion from one place: what was left is gone, and the exit is that of the call with its stack pointer.
        let open = [event(1, 10, 11, 100), event(2, 20, 21, 80), event(2, 20, 21, 60)];
        assert_eq!(staying(&open, &BASE, &event(3, 30, 31, 70)), 2);
        assert_eq!(returning(&open, &BASE, &event(2, 20, 22, 80), |_| false), Left::Returns(1));
    }

    #[test]
    fn an_exit_ends_the_call_of_its_frame() {
        let open = [event(1, 10, 11, 100), event(2, 20, 21, 80), event(3, 30, 31, 60)];
        assert_eq!(returning(&open, &BASE, &event(3, 30, 32, 60), |_| false), Left::Returns(2));
        assert_eq!(returning(&open, &BASE, &event(2, 20, 22, 80), |_| false), Left::Returns(1));
        assert_eq!(returning(&open, &BASE, &event(3, 30, 30, 80), |_| false), Left::Returns(2));
        assert_eq!(returning(&open, &BASE, &event(3, 30, 32, 40), |_| false), Left::Returns(2));
        for is_of_part in [false, true] {
            let exit = event(3, 99, 32, 40);
            let expected = if is_of_part { Left::Returns(2) } else { Left::Stray(3) };
            assert_eq!(returning(&open, &BASE, &exit, |entry| *entry == open[2] && is_of_part), expected);
        }
        assert_eq!(returning(&open, &BASE, &event(9, 30, 32, 80), |_| false), Left::Stray(2));
    }
}
