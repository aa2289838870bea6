//! Whatever bytes are taken for a profile, they are refused, or can be added up and shown; nothing worse.
//!
//! As many are tried as `DIYTRACE_EXECUTIONS` says: `fuzz/million.sh`.

use diytrace_profile::testing::Mutations;

use crate::{Profile, Rows, folded, functions, messages, pack, read, tags};

/// Larger ones are refused.
const MOST: u64 = 1 << 20;

#[test]
fn bytes_that_are_nearly_a_profile_do_no_harm() {
    let server = crate::testing::server();
    let seeds = [messages(&server), pack(&server).unwrap()];
    for seed in &seeds {
        assert!(read(seed, MOST).is_ok(), "a seed is no profile");
    }
    let mut mutations = Mutations::new();
    let executions = Mutations::executions(3000);
    let mut taken = 0;
    for _ in 0..executions {
        // What is gzipped is found to be damaged at once.
        let seed = &seeds[usize::from(mutations.below(16) == 0)];
        let bytes = mutations.of(seed, &seeds[0]);
        let Ok(read) = read(&bytes, MOST) else { continue };
        taken += 1;
        let mut profile = Profile::default();
        if profile.add(&server).is_ok() && profile.add(&read).is_ok() {
            let _ = profile.subtract(&read, |_| true);
        }
        for of in 0..profile.types().len() {
            let _ =
                (functions(&profile, of, Rows::Functions), folded(&profile, of), tags(&profile, of), profile.total(of));
        }
        messages(&profile.message());
    }
    eprintln!("{executions} executions, {taken} of them taken for profiles");
    assert!(taken > 0, "no mutation gets past the first check");
}
