//! How long the runs took, for people.

use std::io::{self, Write};

use super::precision;
use super::session::walls;
use diytrace_compare::runs::Runs;
use diytrace_compare::statistics::median;
use diytrace_profile::human;

/// Writes a line for each side and query.
pub fn write(sides: &[Runs], out: &mut dyn Write) -> io::Result<()> {
    for query in sides.first().map(Runs::queries).unwrap_or_default() {
        for side in sides {
            let walls = walls(side, query);
            let of = query.map_or_else(String::new, |query| format!(" {query}:"));
            let median = human::time(median(&walls));
            let spread = match precision::half_width(&walls) {
                Some(width) => format!(" ± {} (median, 95%)", human::percent(width)),
                None => " (median; fewer than 6 runs do not tell how well it is known)".to_owned(),
            };
            let runs = if walls.len() == 1 { "run" } else { "runs" };
            writeln!(out, "{}:{of} {} {runs}, {median}{spread}", side.name, walls.len())?;
        }
    }
    Ok(())
}
