//! What a phase has come to where workers were lost: what they have told counts, and what they have not is named.

use super::messages::PartSeen;
use crate::failure::NotSent;
use crate::fleet::{Lost, Share, Stretch};
use crate::pace::{Pace, Plan};
use crate::tally::Tally;

/// Settles what nobody will tell any more: requests of lost workers that were sent and not answered are cut off, and the rest of their
/// part was not sent; but of what somebody ended, nothing more was planned.
pub fn settle(stretch: &Stretch, is_cut_short: bool, mut tally: Tally, parts: Vec<PartSeen>) -> (Tally, Vec<Share>) {
    let share = |part: PartSeen| {
        let mut share = Share::from(part.clone());
        if let Some(known_ns) = part.lost_ns {
            let most_unknown = lose(stretch, is_cut_short, &part, known_ns, &mut tally, &mut share);
            share.lost = Some(Lost { told_ns: part.told_ns, known_ns, most_unknown });
        }
        share
    };
    let shares = parts.into_iter().map(share).collect();
    (tally, shares)
}

impl From<PartSeen> for Share {
    /// What has been told of it; whether it was lost, is for whoever settles it.
    fn from(part: PartSeen) -> Self {
        Self {
            worker: part.name,
            threads: part.post.threads,
            connections: part.post.connections,
            counts: part.counts,
            clock_error_ns: part.clock_error_ns,
            lost: None,
        }
    }
}

/// Settles a part, and tells how many requests more it may have sent than is known.
fn lose(
    stretch: &Stretch,
    is_cut_short: bool,
    part: &PartSeen,
    known_ns: u64,
    tally: &mut Tally,
    share: &mut Share,
) -> Option<u64> {
    let counts = &mut share.counts;
    let on_their_way = counts.sent.saturating_sub(counts.answered + counts.errors + counts.cut_off);
    tally.cut_off += on_their_way;
    counts.cut_off += on_their_way;
    let waiting = counts.planned.saturating_sub(counts.sent + counts.not_sent);
    let mut skip = |planned_ns: u64| {
        tally.skip(planned_ns, NotSent::WorkerLost);
        counts.not_sent += 1;
    };
    (0..waiting).for_each(|_| skip(part.told_ns));
    let ends_ns = u64::try_from(stretch.duration.as_nanos()).unwrap_or(u64::MAX);
    let until = known_ns.saturating_add(part.clock_error_ns);
    let (all, later, unknown) = planned(stretch, part, ends_ns, until);
    // Where a thread told a little earlier than others, a request or two of the moment before are among the rest.
    let rest = if is_cut_short { 0 } else { all.saturating_sub(counts.planned) };
    let first = (later.len() as u64).saturating_sub(rest) as usize;
    let before = rest.saturating_sub(later.len() as u64);
    (0..before).for_each(|_| skip(part.told_ns));
    later[first..].iter().for_each(|&planned_ns| skip(planned_ns));
    tally.planned += rest;
    counts.planned += rest;
    match stretch.pace {
        _ if part.is_done => Some(0),
        Pace::Max => None,
        _ => Some(waiting + unknown),
    }
}

/// How many requests a part has in all, when those are planned that come after what it has told, and how many of these lie before a moment.
fn planned(stretch: &Stretch, part: &PartSeen, ends_ns: u64, until: u64) -> (u64, Vec<u64>, u64) {
    let (mut all, mut later) = (0, Vec::new());
    for thread in part.post.first..part.post.first + part.post.threads {
        let random = fastrand::Rng::with_seed(stretch.seed.wrapping_add(thread));
        let mut plan = Plan::new(stretch.pace, 0, (thread, part.post.of), random);
        while plan.peek() < ends_ns {
            all += 1;
            if plan.peek() > part.told_ns {
                later.push(plan.peek());
            }
            plan.advance();
        }
    }
    later.sort_unstable();
    let unknown = later.partition_point(|planned_ns| *planned_ns <= until) as u64;
    (all, later, unknown)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::post::posts;
    use super::*;
    use crate::fleet::Counts;
    use crate::tally::Sent;

    const RATE: Stretch = Stretch { pace: Pace::Constant(1000.0), duration: Duration::from_secs(2), seed: 7 };

    /// What a worker that is the second of four has told in half a second: all was answered but for the last five, and three wait.
    fn told(stretch: &Stretch) -> (Tally, PartSeen) {
        let post = posts(4, 8, 2)[1];
        let mut tally = Tally::new(0);
        let (mut moments, told_ns) = (Vec::new(), 500_000_000);
        for thread in post.first..post.first + post.threads {
            let random = fastrand::Rng::with_seed(stretch.seed.wrapping_add(thread));
            let mut plan = Plan::new(stretch.pace, 0, (thread, post.of), random);
            while plan.peek() <= told_ns {
                moments.push(plan.peek());
                plan.advance();
            }
        }
        moments.sort_unstable();
        tally.planned = moments.len() as u64;
        for (number, &planned_ns) in moments.iter().enumerate().take(moments.len() - 3) {
            let sent = Sent { planned_ns, sent_ns: planned_ns };
            tally.send(sent, false);
            if number < moments.len() - 8 {
                tally.answer(sent, planned_ns + 1000);
            }
        }
        let part = PartSeen {
            name: "a".to_owned(),
            post,
            counts: Counts::from(&tally),
            told_ns,
            clock_error_ns: 1_000_000,
            is_done: false,
            lost_ns: Some(700_000_000),
        };
        (tally, part)
    }

    fn assert_adds_up(tally: &Tally, share: &Share) {
        assert_eq!(tally.planned, tally.sent + tally.all_not_sent());
        assert_eq!(tally.sent, tally.answered + tally.errors() + tally.cut_off);
        assert_eq!(tally.timeline.slices().iter().map(|slice| slice.not_sent).sum::<u64>(), tally.all_not_sent());
        assert_eq!(share.counts, Counts::from(tally));
    }

    #[test]
    fn the_rest_of_a_lost_workers_part_is_not_sent_by_name() {
        let (tally, part) = told(&RATE);
        let (settled, shares) = settle(&RATE, false, tally, vec![part]);
        assert_adds_up(&settled, &shares[0]);
        // A quarter of two thousand, of which a quarter of its time is told.
        assert_eq!((settled.planned, settled.cut_off), (500, 5));
        let sent = settled.sent;
        assert!((122..=126).contains(&(sent + 3)), "{sent}");
        assert_eq!(settled.not_sent, [(NotSent::WorkerLost, 500 - sent)].into());
        // In the 200 ms until it was known to be gone it may have sent a fifth of a second's, and what waited.
        let lost = shares[0].lost.unwrap();
        assert!((52..=54).contains(&lost.most_unknown.unwrap()), "{lost:?}");
    }

    #[test]
    fn what_comes_at_random_adds_up_too() {
        let stretch = Stretch { pace: Pace::Poisson(1000.0), ..RATE };
        let (tally, part) = told(&stretch);
        let (settled, shares) = settle(&stretch, false, tally, vec![part]);
        assert_adds_up(&settled, &shares[0]);
        assert!((400..600).contains(&settled.planned), "{}", settled.planned);
    }

    #[test]
    fn of_what_was_ended_nothing_more_was_planned() {
        let (tally, part) = told(&RATE);
        let planned = tally.planned;
        let (settled, shares) = settle(&RATE, true, tally, vec![part.clone()]);
        assert_adds_up(&settled, &shares[0]);
        assert_eq!((settled.planned, settled.all_not_sent()), (planned, 3));
        // Who has told its last has sent no more, and without a plan nobody can tell.
        let (tally, _) = told(&RATE);
        let done = PartSeen { is_done: true, ..part.clone() };
        assert_eq!(settle(&RATE, false, tally.clone(), vec![done]).1[0].lost.unwrap().most_unknown, Some(0));
        let max = Stretch { pace: Pace::Max, ..RATE };
        assert_eq!(settle(&max, false, tally, vec![part]).1[0].lost.unwrap().most_unknown, None);
    }
}
