//! Calls that have not returned, and how far their time is known.

use diytrace_profile::human::count;
use diytrace_profile::merge::Bound;

/// How many there are, marked if their process ended without saying when.
pub fn remark(open: u64, bound: Option<Bound>) -> String {
    format!("{} open{}", count(open), bound.and_then(mark).map(|mark| format!(" {mark}")).unwrap_or_default())
}

/// Why a function has time and no call.
pub fn entered_before(what: Option<&str>) -> Option<String> {
    what.map(|what| match what {
        "fork" => "called before the fork, by the parent".to_owned(),
        what => format!("called before the {what}"),
    })
}

/// What the mark says, if there is one in what is shown.
pub fn note(bound: Bound, shown: &[String]) -> Option<String> {
    let says = match bound {
        Bound::SeenEnded => "open when their process ended without a word: they last until it was seen to end",
        Bound::LastSign => {
            "open when their process ended without a word: they last until its last sign of life, and may have gone on for longer"
        }
        Bound::Running | Bound::Exited => return None,
    };
    mark(bound).filter(|&mark| shown.iter().any(|line| line.contains(mark))).map(|mark| format!("{mark} {says}"))
}

fn mark(bound: Bound) -> Option<char> {
    match bound {
        Bound::SeenEnded => Some('‡'),
        Bound::LastSign => Some('†'),
        Bound::Running | Bound::Exited => None,
    }
}
