//! A frame on a terminal's screen: a function of data, drawn anew each time.

use ratatui::Frame as Canvas;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row as Cells, Table, TableState};

use super::frame::{Frame, Newest, Row, Unlisted};
use super::view::{Sort, View};
use diytrace_profile::human::{count, counted, resolved, resolved_self, time};
use diytrace_views::view::timeline;

/// Headings of [`cells`].
pub const COLUMNS: [&str; 6] = ["calls/s", "self/s", "total/s", "mean", "p99", "wait/s"];

/// Columns of the terminal from which on they are shown.
const NEEDS: [u16; 6] = [40, 0, 55, 90, 75, 105];

/// Lines of the terminal from which on there is room for a timeline.
const LEAST_HEIGHT: u16 = 10;

/// Numbers stand to the right and names to the left: this more is between them.
const GAP: &str = " ";

const HELP: &str =
    "? help · q quit · ↑↓ · ⏎ callees · ← back · sort c s t m 9 n · / search · space hold · r rebase · p pids";

/// What `?` shows.
const EXPLAINED: &str = "\
 calls/s   calls entered in a second
 self/s    time without callees, in a second of time on the wall: of 4 busy threads up to 4 s
 total/s   the same with callees; of a recursion the outermost call's
 mean      of the calls that returned in the interval
 p99       99% of these took at most this
 wait/s    of self/s, what was spent waiting; – where it is not known
 < x       below what the correction for the profiler's overhead can resolve

 s t c m 9 n      sort by self, total, calls, mean, p99, name; ▾ marks the column
 ↑ ↓ PgUp PgDn    move; Home and End
 ⏎ →              what the function calls; ← Esc: back
 /                only names that have a word in them; Esc: all
 p                processes apart, or together
 space            hold the display, and go on
 r                rates since now; i: of the last interval again
 q                quit";

/// What a frame tells of all functions together.
pub fn headline(frame: &Frame) -> String {
    if let Some(Newest { recordings, of, age_ns }) = &frame.newest {
        let recordings = counted(*recordings, "recording", "recordings");
        let calls = count(frame.calls_per_s.round() as u64);
        let (interval, age) = (time(frame.interval_ns as f64), time(*age_ns as f64));
        return format!("{of} · {recordings} · {calls} calls/s · over {interval}, until {age} ago");
    }
    let program = frame.exe.rsplit('/').next().unwrap_or_default();
    let doing = match (frame.running, frame.paused) {
        (0, false) => " · ended",
        (_, true) => " · paused",
        _ => "",
    };
    let lost = match frame.lost_calls {
        0 => String::new(),
        lost => format!(" · {} lost", counted(lost, "call", "calls")),
    };
    let processes = counted(frame.running, "process", "processes");
    let calls = count(frame.calls_per_s.round() as u64);
    let interval = time(frame.interval_ns as f64);
    format!("{program}{doing} · {processes} running · {calls} calls/s{lost} · over {interval}")
}

/// The numbers of a row.
pub fn cells(row: &Row) -> [String; 6] {
    let calls = match row.calls_per_s {
        rate if rate > 0.0 && rate < 9.95 => format!("{rate:.1}"),
        rate => count(rate.round() as u64),
    };
    let known = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), time);
    if let Some(nested) = row.nested() {
        let (own, nested) = (time(row.self_ns_per_s), format!("({})", time(nested)));
        return [calls, own, nested, known(row.mean_ns), known(row.p99_ns), known(row.self_wait_ns_per_s)];
    }
    [
        calls,
        resolved_self([row.self_ns_per_s, 0.0], [row.total_ns_per_s, row.error_ns_per_s]),
        resolved(row.total_ns_per_s, row.error_ns_per_s),
        known(row.mean_ns),
        known(row.p99_ns),
        known(row.self_wait_ns_per_s),
    ]
}

/// Whose row it is, where processes are told apart: those that had an arena one after the other are not.
pub fn process(row: &Row) -> String {
    row.pid.map_or_else(|| "shared".to_owned(), |pid| pid.to_string())
}

/// Draws what the view shows of a frame.
pub fn draw(canvas: &mut Canvas, frame: Option<&Frame>, view: &View) {
    let when = frame.map_or_else(Vec::new, |frame| timeline_of(frame, view, canvas.area()));
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(when.len() as u16),
        Constraint::Min(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ]);
    let [top, path, over_time, middle, state, help] = areas.areas(canvas.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    canvas.render_widget(Line::styled(fitting(HELP, help.width), Style::new().add_modifier(Modifier::DIM)), help);
    let Some(frame) = frame else {
        canvas.render_widget(Paragraph::new("reading …"), top);
        return;
    };
    canvas.render_widget(Line::styled(fitting(&headline(frame), top.width), bold), top);
    if !view.inside.is_empty() {
        let names: Vec<&str> = view.inside.iter().map(|(_, _, name)| name.as_str()).collect();
        let is_nested = view.rows(frame).iter().any(|row| row.nested().is_some());
        let nested = if is_nested { " · (in parentheses: in calls of it inside itself)" } else { "" };
        canvas.render_widget(Line::raw(format!("callees of {}{nested}", names.join(" ▸ "))), path);
    }
    canvas.render_widget(Paragraph::new(when.into_iter().map(Line::raw).collect::<Vec<_>>()), over_time);
    canvas.render_widget(Line::raw(standing(frame, view)), state);
    if view.is_explaining {
        canvas.render_widget(Paragraph::new(EXPLAINED), middle);
        return;
    }
    let rows = view.rows(frame);
    if rows.is_empty() {
        let what = if view.search.is_empty() { "no calls in this time" } else { "no function is called like that" };
        canvas.render_widget(Paragraph::new(format!("  {what}")), middle);
        return;
    }
    let has_pids = rows.iter().any(|row| row.pid.is_some());
    // A number that is cut off is a wrong one: where there is no room for a column, it is left out.
    let kept = (0..COLUMNS.len()).filter(|&index| canvas.area().width >= NEEDS[index]).collect::<Vec<_>>();
    let mut widths = vec![Constraint::Length(if has_pids { 8 } else { 0 })];
    widths.extend(kept.iter().map(|_| Constraint::Length(11)));
    widths.push(Constraint::Fill(1));
    let sorted = match view.sort {
        Sort::Calls => 0,
        Sort::Self_ => 1,
        Sort::Total => 2,
        Sort::Mean => 3,
        Sort::P99 => 4,
        Sort::Name => COLUMNS.len(),
    };
    let right = |text: String| Cell::new(Line::from(text).right_aligned());
    let heading = |(index, name): (usize, &'static str)| {
        let name = if index == sorted { Span::raw(format!("▾{name}")).underlined() } else { Span::raw(name) };
        Cell::new(if index < COLUMNS.len() {
            Line::from(name).right_aligned()
        } else {
            Line::from_iter([GAP.into(), name])
        })
    };
    let headings = COLUMNS.into_iter().chain(["function"]).enumerate();
    let headings = headings.filter(|(index, _)| *index == COLUMNS.len() || kept.contains(index)).map(heading);
    let pid = right(if has_pids { "pid".to_owned() } else { String::new() });
    let header = Cells::new(std::iter::once(pid).chain(headings)).style(bold);
    let line = |row: &&Row| {
        let pid = if has_pids { process(row) } else { String::new() };
        let all = cells(row);
        let numbers = kept.iter().map(|&index| right(all[index].clone()));
        Cells::new(std::iter::once(right(pid)).chain(numbers).chain([Cell::new(format!("{GAP}{}", row.name))]))
    };
    // Of thousands of rows only those that are seen are made; the cursor's is one of them.
    let (cursor, room) = (view.cursor(&rows), usize::from(middle.height.saturating_sub(1)));
    let first = (cursor + 1).saturating_sub(room.max(1));
    let seen = rows.iter().skip(first).take(room.max(1));
    let table = Table::new(seen.map(line), widths).header(header).column_spacing(1);
    let table = table.row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut cursor = TableState::new().with_selected(cursor - first);
    canvas.render_stateful_widget(table, middle, &mut cursor);
}

/// When the function whose callees are shown ran, in all the time that is recorded. Rates are of the last interval only.
fn timeline_of(frame: &Frame, view: &View, area: Rect) -> Vec<String> {
    let [.., id] = view.inside.as_slice() else { return Vec::new() };
    let Some(timeline) = frame.function(id).and_then(|row| row.timeline.as_ref()) else { return Vec::new() };
    let mut lines = timeline::lines(timeline, true, Some(area.width.into()));
    if let Some(scale) = lines.last_mut() {
        scale.push_str(", as measured");
    }
    // It may not take the place of the rows.
    if area.height < LEAST_HEIGHT { Vec::new() } else { lines }
}

/// As many of the parts of a line as there is room for: half a part is worse than none.
fn fitting(text: &str, width: u16) -> &str {
    let mut ends = text.match_indices(" · ").map(|(at, _)| at).chain([text.len()]);
    let fits = |end: &usize| text[..*end].chars().count() <= width.into();
    let first = ends.next().unwrap_or_default();
    &text[..ends.take_while(fits).last().unwrap_or(first)]
}

/// What the functions do that were not asked for.
pub fn unlisted(frame: &Frame) -> Option<String> {
    let Unlisted { functions, calls_per_s, self_ns_per_s } = frame.unlisted;
    let functions = (functions > 0).then(|| counted(functions, "function is", "functions are"))?;
    let calls = count(calls_per_s.round() as u64);
    Some(format!("{functions} left out: {calls} calls/s, self {}/s", time(self_ns_per_s)))
}

/// How the display differs from what it does by itself.
fn standing(frame: &Frame, view: &View) -> String {
    let mut parts: Vec<String> = unlisted(frame).filter(|_| view.inside.is_empty()).into_iter().collect();
    if view.is_searching {
        parts.push(format!("search: {}▏", view.search));
    } else if !view.search.is_empty() {
        parts.push(format!("only names with `{}` (Esc: all)", view.search));
    }
    if view.is_held {
        parts.push("held (space: go on)".to_owned());
    }
    if view.has_baseline {
        parts.push("since the moment chosen (i: intervals)".to_owned());
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;
    use crate::top::view::Wish;
    use diytrace_profile::merge::By;
    use diytrace_profile::testing::golden_at;
    use diytrace_profile::timeline::{Timeline, TimelineSlice};

    fn row(name: &str, pid: Option<u32>, calls: u64, own: f64, total: f64) -> Row {
        Row {
            pid,
            name: name.to_owned(),
            module: "/bin/server".to_owned(),
            calls,
            calls_per_s: calls as f64 * 4.0,
            self_ns_per_s: own,
            total_ns_per_s: total,
            error_ns_per_s: 1e4,
            mean_ns: Some(total / 4.0 / calls as f64),
            p99_ns: Some(total / calls as f64),
            ..Row::default()
        }
    }

    fn frame(pid: Option<u32>) -> Frame {
        let mut handle = row("handle_request", pid, 1000, 2e6, 9e7);
        handle.callees = vec![row("parse_request", pid, 1000, 8e3, 8e3), row("lookup", pid, 2500, 8e7, 8e7)];
        handle.callees.iter_mut().for_each(|callee| (callee.mean_ns, callee.p99_ns) = (None, None));
        Frame {
            schema: super::super::frame::SCHEMA,
            profile: PathBuf::from("server.diyt"),
            exe: "/bin/server".to_owned(),
            at_unix_ns: 0,
            interval_ns: 250_000_000,
            paused: false,
            running: 4,
            recorded: 5,
            newest: None,
            calls_per_s: 18_000.0,
            lost_calls: 0,
            functions: vec![handle, row("lookup", pid, 2500, 8e7, 8e7), row("parse_request", pid, 1000, 8e3, 8e3)],
            unlisted: Unlisted::default(),
            others: Vec::new(),
        }
    }

    #[test]
    fn of_a_store_it_is_told_what_it_is_of_and_when() {
        let newest = Newest { recordings: 3, of: "service=pg".to_owned(), age_ns: 4_200_000_000 };
        let frame = Frame { newest: Some(newest), interval_ns: 10_000_000_000, ..frame(None) };
        let expected = "service=pg · 3 recordings · 18,000 calls/s · over 10.00 s, until 4.200 s ago";
        assert_eq!(headline(&frame), expected);
    }

    fn press(view: &mut View, keys: &[KeyCode], frame: &Frame) -> Option<Wish> {
        let press = |_, code: &KeyCode| view.press(KeyEvent::new(*code, KeyModifiers::NONE), Some(frame));
        keys.iter().fold(None, press)
    }

    fn shown(view: &View, frame: Option<&Frame>, width: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, 10)).unwrap();
        terminal.draw(|canvas| draw(canvas, frame, view)).unwrap();
        let text = terminal.backend().to_string();
        text.lines().map(|line| format!("{}\n", line.trim_matches('"').trim_end())).collect()
    }

    fn golden(name: &str, output: &str) {
        golden_at(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/top/golden").join(name), output);
    }

    #[test]
    fn screens() {
        let frame = frame(None);
        let mut view = View::default();
        golden("functions-100.txt", &shown(&view, Some(&frame), 100));
        golden("functions-60.txt", &shown(&view, Some(&frame), 60));
        press(&mut view, &[KeyCode::Char('n'), KeyCode::Enter, KeyCode::Char(' ')], &frame);
        golden("callees.txt", &shown(&view, Some(&frame), 100));
        press(&mut view, &[KeyCode::Esc, KeyCode::Char('/'), KeyCode::Char('P'), KeyCode::Char('a')], &frame);
        golden("search.txt", &shown(&view, Some(&frame), 100));
        golden("nothing-yet.txt", &shown(&view, None, 100));
    }

    #[test]
    fn a_question_mark_explains_keys_and_columns() {
        let frame = frame(None);
        let mut view = View::default();
        press(&mut view, &[KeyCode::Char('?')], &frame);
        let mut terminal = Terminal::new(TestBackend::new(100, 24)).unwrap();
        terminal.draw(|canvas| draw(canvas, Some(&frame), &view)).unwrap();
        let text = terminal.backend().to_string();
        for word in
            ["calls/s   calls entered", "self/s    time without callees", "p99       99%", "q                quit"]
        {
            assert!(text.contains(word), "{word}: {text}");
        }
        press(&mut view, &[KeyCode::Char('t')], &frame);
        assert_eq!((view.is_explaining, view.sort), (false, Sort::Self_), "a key leads back, and does nothing else");
    }

    #[test]
    fn when_a_root_ran_is_above_what_it_calls() {
        let slice = |calls: u64| TimelineSlice { calls: calls as f64, total_ns: 1e3 * calls as f64 };
        let slices = (0..120).map(|index| slice(if index < 40 { index } else { 200 - index })).collect();
        let mut frame = frame(None);
        frame.functions[0].timeline =
            Some(Timeline { start_unix_ns: 1_700_000_000_000_000_000, slice_ns: 5e8, slices });
        let mut view = View::default();
        press(&mut view, &[KeyCode::Char('t'), KeyCode::Enter], &frame);
        golden("timeline.txt", &shown(&view, Some(&frame), 100));
    }

    #[test]
    fn time_in_nested_calls_of_the_caller_is_not_told_as_none() {
        let mut frame = frame(None);
        frame.functions[0].callees[1].total_ns_per_s = 0.0;
        frame.functions[0].callees[1].nested_ns_per_s = 9e7;
        let mut view = View::default();
        press(&mut view, &[KeyCode::Char('t'), KeyCode::Down, KeyCode::Enter], &frame);
        view.inside = vec![frame.functions[0].id()];
        golden("nested.txt", &shown(&view, Some(&frame), 100));
    }

    #[test]
    fn of_thousands_of_rows_those_around_the_cursor_are_shown() {
        let mut frame = frame(None);
        frame.functions = (0..5000u64).map(|number| row(&format!("f{number:04}"), None, number, 1.0, 2.0)).collect();
        let mut view = View { sort: Sort::Name, ..View::default() };
        let first = |view: &View| shown(view, Some(&frame), 100).lines().nth(3).unwrap().trim_start().to_owned();
        assert!(first(&view).ends_with("f0000"), "{}", first(&view));
        view.selected = Some(frame.functions[4321].id());
        assert!(shown(&view, Some(&frame), 100).contains("f4321"));
        press(&mut view, &[KeyCode::End], &frame);
        assert!(shown(&view, Some(&frame), 100).contains("f4999"));
    }

    #[test]
    fn processes() {
        let mut view = View::default();
        press(&mut view, &[KeyCode::Char('p')], &frame(None));
        assert_eq!(view.by, By::Process);
        golden("processes.txt", &shown(&view, Some(&frame(Some(4711))), 100));
    }

    #[test]
    fn the_cursor_stays_on_its_function_whatever_the_order() {
        let frame = frame(None);
        let mut view = View::default();
        press(&mut view, &[KeyCode::Down], &frame);
        let chosen = view.selected.clone();
        assert_eq!(chosen.as_ref().map(|id| &*id.2), Some("handle_request"));
        press(&mut view, &[KeyCode::Char('t')], &frame);
        assert_eq!((view.cursor(&view.rows(&frame)), &view.selected), (0, &chosen));
        press(&mut view, &[KeyCode::Enter, KeyCode::Left], &frame);
        assert_eq!((&view.selected, view.inside.len()), (&chosen, 0));
    }

    #[test]
    fn wishes() {
        let frame = frame(None);
        let mut view = View::default();
        assert_eq!(press(&mut view, &[KeyCode::Char('r')], &frame), Some(Wish::Rebase));
        assert_eq!(press(&mut view, &[KeyCode::Char('i')], &frame), Some(Wish::Intervals));
        assert_eq!(press(&mut view, &[KeyCode::Char('q')], &frame), Some(Wish::Quit));
        // A name may have a `q`, but Ctrl-C always leaves.
        assert_eq!(press(&mut view, &[KeyCode::Char('/'), KeyCode::Char('q')], &frame), None);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(view.press(interrupt, Some(&frame)), Some(Wish::Quit));
    }
}
