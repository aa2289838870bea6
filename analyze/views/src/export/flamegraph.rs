//! A flame graph: an interactive SVG, whose widths are self times.

use std::io;

use inferno::flamegraph::{Direction, Options, from_lines};

use super::folded::stacks;
use super::profile::Profile;
use diytrace_profile::human::{counted, time};

/// What is written around a flame graph.
pub struct Drawing {
    /// Above it.
    pub title: String,
    /// What the widths mean.
    pub subtitle: String,
    /// What values are.
    pub unit: String,
    /// What the reader should know.
    pub notes: String,
}

/// The SVG. An error says that there is no time to draw.
pub fn write(profile: &Profile) -> io::Result<Vec<u8>> {
    let lines: Vec<String> = stacks(profile).iter().map(|(stack, ns)| format!("{stack} {ns}")).collect();
    let drawing = Drawing {
        title: profile.title.clone(),
        subtitle: subtitle(profile),
        unit: "ns".to_owned(),
        notes: profile.warnings.join("\n"),
    };
    draw(&lines, drawing)
}

/// Folded stacks as an SVG. An error says that there is nothing to draw.
pub fn draw(lines: &[String], drawing: Drawing) -> io::Result<Vec<u8>> {
    let mut options = Options::default();
    options.title = drawing.title;
    options.subtitle = Some(drawing.subtitle);
    options.count_name = drawing.unit;
    options.name_type = "Function:".to_owned();
    options.notes = drawing.notes;
    // Where it all begins is in sight when it is opened, however deep it goes.
    options.direction = Direction::Inverted;
    // One function has one colour, in every picture of it.
    options.hash = true;
    options.deterministic = true;
    options.text_truncate_direction = inferno::flamegraph::TextTruncateDirection::Right;
    let mut svg = Vec::new();
    from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)?;
    Ok(svg)
}

/// What the widths mean, and how much there is.
fn subtitle(profile: &Profile) -> String {
    let error: u64 = profile.parts.iter().map(|part| part.error_ns).sum();
    let error = if profile.is_raw { String::new() } else { format!(" ± {}", time(error as f64)) };
    format!(
        "self time, {}: {}{error} · {}",
        profile.kind_of_time(),
        time(profile.total_ns() as f64),
        counted(profile.calls(), "call", "calls")
    )
}
