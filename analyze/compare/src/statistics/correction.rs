//! Many tests at once: p-values adjusted so that chance alone is unlikely to show anything.

use serde::{Deserialize, Serialize};

/// How p-values of many tests are adjusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Correction {
    /// At most that share of what is called changed did not change, on average (Y. Benjamini, Y. Hochberg 1995).
    #[default]
    Bh,
    /// With that chance at most, anything is called changed that did not (S. Holm 1979).
    Holm,
    /// Each test for itself.
    None,
}

impl Correction {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bh => "Benjamini-Hochberg",
            Self::Holm => "Holm",
            Self::None => "no correction",
        }
    }

    /// The adjusted p-values, in the order of these: a test is significant if its own is at most the level.
    pub fn adjust(self, p: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
        let (tests, mut adjusted) = (p.len() as f64, p.to_vec());
        match self {
            Self::None => {}
            Self::Holm => {
                let mut largest: f64 = 0.0;
                for (rank, &index) in order.iter().enumerate() {
                    largest = largest.max(p[index] * (tests - rank as f64)).min(1.0);
                    adjusted[index] = largest;
                }
            }
            Self::Bh => {
                let mut smallest: f64 = 1.0;
                for (rank, &index) in order.iter().enumerate().rev() {
                    smallest = smallest.min(p[index] * tests / (rank + 1) as f64);
                    adjusted[index] = smallest.max(p[index]); // which it is, but for rounding
                }
            }
        }
        adjusted
    }

    /// Whether a test could have been significant at this level if its p were the smallest that its runs can reach, beside
    /// the others as they are.
    pub fn is_reachable(self, p: &[f64], test: usize, smallest: f64, level: f64) -> bool {
        let mut best = p.to_vec();
        best[test] = best[test].min(smallest);
        self.adjust(&best)[test] <= level
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        // R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "BH"), and "holm".
        let p = [0.05, 0.01, 0.04, 0.02, 0.03];
        let close = |found: Vec<f64>, expected: [f64; 5]| {
            found
                .iter()
                .zip(expected)
                .for_each(|(found, expected)| assert!((found - expected).abs() < 1e-12, "{found}"));
        };
        close(Correction::Bh.adjust(&p), [0.05; 5]);
        close(Correction::Holm.adjust(&p), [0.09, 0.05, 0.09, 0.08, 0.09]);
        // Benjamini & Hochberg's own example: 15 p-values, of which the first four are significant at 5%.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let significant = |correction: Correction| correction.adjust(&p).iter().filter(|&&p| p <= 0.05).count();
        assert_eq!(
            (significant(Correction::Bh), significant(Correction::Holm), significant(Correction::None)),
            (4, 3, 9)
        );
    }

    #[test]
    fn few_runs_reach_nothing_among_many_tests() {
        let mut p = vec![0.5; 100];
        p[0] = 2.0 / 252.0;
        assert!(!Correction::Bh.is_reachable(&p, 0, 2.0 / 252.0, 0.05), "5 runs a side among 100");
        assert!(Correction::Bh.is_reachable(&p, 0, 2.0 / 12870.0, 0.05), "8 runs a side");
        // With many others that changed, less is enough.
        p[1..60].fill(2.0 / 252.0);
        assert!(Correction::Bh.is_reachable(&p, 0, 2.0 / 252.0, 0.05));
        assert!(!Correction::Holm.is_reachable(&p, 0, 2.0 / 252.0, 0.05));
    }

    proptest! {
        #[test]
        fn corrections_keep_the_order_and_only_raise(p in prop::collection::vec(0.0..=1.0f64, 0..40)) {
            for correction in [Correction::Bh, Correction::Holm, Correction::None] {
                let adjusted = correction.adjust(&p);
                for (a, b) in p.iter().zip(&adjusted) {
                    prop_assert!(a <= b && *b <= 1.0);
                }
                for i in 0..p.len() {
                    for j in 0..p.len() {
                        prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                    }
                }
            }
            let (bh, holm) = (Correction::Bh.adjust(&p), Correction::Holm.adjust(&p));
            prop_assert!(bh.iter().zip(&holm).all(|(bh, holm)| *bh <= holm + 1e-12));
        }
    }
}
