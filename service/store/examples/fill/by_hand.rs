//! The best queries that somebody would write by hand for the same questions: calls and self times as measured, neither merged with
//! what is told of recordings nor corrected, and without distributions. Of ClickHouse they ask the store's own tables, of SQLite
//! the [`plain`](crate::plain) one.

use std::path::{Path, PathBuf};

use diytrace_store::{Address, open};
use rusqlite::{Connection, OpenFlags};

use crate::ask::{Ask, Kind, Question, Span};
use crate::kinds::some;

/// Which series, and when.
const OF_CLICKHOUSE: &str = "series IN (SELECT id FROM series WHERE JSONExtractString(labels, 'service') = 'SERVICE' AND \
                             ('HOST' = '' OR JSONExtractString(labels, 'host') = 'HOST')) AND ended > SINCE AND ended <= UNTIL";
const OF_SQLITE: &str = "series IN (SELECT id FROM series WHERE service = 'SERVICE' AND ('HOST' = '' OR host = 'HOST')) \
                         AND ended > SINCE AND ended <= UNTIL";

/// A function that many paths lead to.
const FUNCTION: &str = "(SELECT function FROM path GROUP BY function ORDER BY count(*) DESC LIMIT 1)";

/// Each question: how much it is of, of which host, and the query for ClickHouse and for SQLite.
const QUERIES: [(&str, Span, &str, [&str; 2]); 13] = [
    (
        "one_profile",
        Span::Frame,
        "h3",
        ["SELECT path, calls, own FROM path_sum WHERE OF", "SELECT path, calls, own FROM row WHERE OF"],
    ),
    ("one_host_all_time", Span::Always, "h3", [SUMS_OF_CLICKHOUSE, SUMS_OF_SQLITE]),
    ("service_hour", Span::Hour, "", [SUMS_OF_CLICKHOUSE, SUMS_OF_SQLITE]),
    ("service_all_time", Span::Always, "", [SUMS_OF_CLICKHOUSE, SUMS_OF_SQLITE]),
    (
        "service_by_build",
        Span::Always,
        "",
        [
            "SELECT build, path, sum(calls), sum(own) FROM path_sum ANY INNER JOIN \
         (SELECT id AS series, JSONExtractString(labels, 'build') AS build FROM series) AS s USING series WHERE OF GROUP BY build, path",
            "SELECT build, path, sum(calls), sum(own) FROM row JOIN series ON series.id = series WHERE OF GROUP BY build, path",
        ],
    ),
    (
        "top_functions",
        Span::Hour,
        "",
        [
            "SELECT function, sum(c), sum(o) FROM (SELECT path AS id, sum(calls) AS c, sum(own) AS o FROM path_sum WHERE OF GROUP BY path) AS s \
         ANY INNER JOIN path USING id GROUP BY function ORDER BY 3 DESC LIMIT 20",
            "SELECT function, sum(c), sum(o) FROM (SELECT path AS id, sum(calls) AS c, sum(own) AS o FROM row WHERE OF GROUP BY path) \
         JOIN path USING (id) GROUP BY function ORDER BY 3 DESC LIMIT 20",
        ],
    ),
    (
        "flame_graph",
        Span::Hour,
        "",
        [
            "SELECT id, parent, function, c, o FROM (SELECT path AS id, sum(calls) AS c, sum(own) AS o FROM path_sum WHERE OF GROUP BY path) AS s \
         ANY INNER JOIN path USING id",
            "SELECT id, parent, function, c, o FROM (SELECT path AS id, sum(calls) AS c, sum(own) AS o FROM row WHERE OF GROUP BY path) \
         JOIN path USING (id)",
        ],
    ),
    (
        "function_over_time",
        Span::Hour,
        "",
        [
            "SELECT ended, sum(calls), sum(own) FROM path_sum WHERE OF AND path IN (SELECT id FROM path WHERE function = FUNCTION) \
         GROUP BY ended ORDER BY ended",
            "SELECT ended, sum(calls), sum(own) FROM row WHERE OF AND path IN (SELECT id FROM path WHERE function = FUNCTION) \
         GROUP BY ended ORDER BY ended",
        ],
    ),
    (
        "diff_of_builds",
        Span::Hour,
        "",
        [
            "SELECT function, sum(a), sum(b) FROM (SELECT path AS id, sumIf(own, build = 'b0') AS a, sumIf(own, build = 'b1') AS b \
         FROM path_sum ANY INNER JOIN (SELECT id AS series, JSONExtractString(labels, 'build') AS build FROM series) AS s USING series \
         WHERE OF GROUP BY path) AS s ANY INNER JOIN path USING id GROUP BY function ORDER BY abs(sum(b) - sum(a)) DESC",
            "SELECT function, sum(a), sum(b) FROM (SELECT path AS id, sum(own) FILTER (WHERE build = 'b0') AS a, \
         sum(own) FILTER (WHERE build = 'b1') AS b FROM row JOIN series ON series.id = series WHERE OF GROUP BY path) \
         JOIN path USING (id) GROUP BY function ORDER BY abs(sum(b) - sum(a)) DESC",
        ],
    ),
    (
        "index_of_series",
        Span::Always,
        "",
        [
            "SELECT labels, n, a, b, c FROM (SELECT series AS id, count() AS n, min(started) AS a, max(ended) AS b, sum(calls) AS c \
         FROM frame GROUP BY series) AS s ANY INNER JOIN series USING id",
            "SELECT service, host, build, n, a, b, c FROM (SELECT series AS id, count(*) AS n, min(started) AS a, max(ended) AS b, \
         sum(calls) AS c FROM frame GROUP BY series) JOIN series USING (id)",
        ],
    ),
    (
        "index_of_range",
        Span::Hour,
        "",
        [
            "SELECT series, started, ended, calls FROM frame WHERE OF ORDER BY ended",
            "SELECT series, started, ended, calls FROM frame WHERE OF ORDER BY ended",
        ],
    ),
    (
        "label_values",
        Span::Always,
        "",
        [
            "SELECT DISTINCT JSONExtractString(labels, 'host') FROM series WHERE JSONExtractString(labels, 'service') = 'SERVICE'",
            "SELECT DISTINCT host FROM series WHERE service = 'SERVICE'",
        ],
    ),
    (
        "profile_types",
        Span::Always,
        "",
        [
            "SELECT labels, argMax(types, ended) FROM sampled GROUP BY labels",
            "SELECT series, types, max(ended) FROM profile GROUP BY series",
        ],
    ),
];

const SUMS_OF_CLICKHOUSE: &str = "SELECT path, sum(calls), sum(own) FROM path_sum WHERE OF GROUP BY path";
const SUMS_OF_SQLITE: &str = "SELECT path, sum(calls), sum(own) FROM row WHERE OF GROUP BY path";

/// The file of what was made by hand beside a store.
pub fn beside(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".plain");
    name.into()
}

/// All kinds, asked by hand, each by a connection of its own.
pub fn kinds(address: &Address) -> Vec<Kind<'_>> {
    let kind = |(name, span, host, [of_clickhouse, of_sqlite]): (_, _, &'static str, [&'static str; 2])| {
        let ask: Ask<'_> = match address {
            Address::ClickHouse(_) => Box::new(move |question| {
                let (mut rows, store) = (0, open(address, false)?);
                let query = written(of_clickhouse, OF_CLICKHOUSE, host, question);
                store.sql(&query, &mut |_| {
                    rows += 1;
                    true
                })?;
                some(rows - 1) // their names come first
            }),
            Address::Sqlite(store) => Box::new(move |question| {
                let connection = Connection::open_with_flags(beside(store), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
                let mut query = connection.prepare(&written(of_sqlite, OF_SQLITE, host, question))?;
                let (mut rows, mut count) = (query.query([])?, 0);
                while let Some(row) = rows.next()? {
                    row.get_ref(0)?;
                    count += 1;
                }
                some(count)
            }),
        };
        (name, span, ask)
    };
    QUERIES.into_iter().map(kind).collect()
}

fn written(query: &str, of: &str, host: &str, question: &Question) -> String {
    let query = query.replace("OF", of).replace("SERVICE", &format!("s{}", question.service)).replace("HOST", host);
    let query =
        query.replace("SINCE", &question.range.since.to_string()).replace("UNTIL", &question.range.until.to_string());
    query.replace("FUNCTION", FUNCTION)
}
