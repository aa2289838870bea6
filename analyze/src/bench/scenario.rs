//! Scenarios: two sides and the queries for both, in TOML.
//!
//! ```toml
//! [left]                      # and [right]; commands run in the current folder, and see DIYTRACE_SIDE=left
//! start = "bin/server"        # a server; or command = "…", a program; or neither: the queries' commands are measured
//! ready = "bin/ping"
//! stop = "bin/stop"
//! env = { PORT = "5001" }     # for all commands of this side
//!
//! [[query]]
//! name = "sort"
//! command = "bin/client --port $PORT 'sort'"
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::Error;
use super::plan::{Plan, Query, SIDES, Server, Side};
use diytrace_profile::nearest::nearest_names;
use diytrace_profile::nearest::nearest_sentence;

/// How long a server may take to be ready or to end, if nobody says otherwise.
const LIMIT: f64 = 60.0;

/// How long a server may take to come to rest.
const SETTLE: f64 = 2.0;

/// What one start of a server is like (where its memory lies, what the recorder cost there) may be shared by all it does, and
/// would then pass for a difference of the sides: every run of a query is of another start.
const RESTART_AFTER: u32 = 1;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    left: FileSide,
    right: FileSide,
    #[serde(default)]
    query: Vec<FileQuery>,
    #[serde(default)]
    record: Record,
    restart_after: Option<u32>,
}

const TOP: &[&str] = &["left", "right", "query", "record", "restart_after"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSide {
    command: Option<String>,
    start: Option<String>,
    ready: Option<String>,
    stop: Option<String>,
    time_limit: Option<f64>,
    settle: Option<f64>,
    setup: Option<String>,
    cleanup: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

const SIDE: &[&str] = &["command", "start", "ready", "stop", "time_limit", "settle", "setup", "cleanup", "env"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileQuery {
    name: String,
    command: String,
    prepare: Option<String>,
}

const QUERY: &[&str] = &["name", "command", "prepare"];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Record {
    root: Vec<String>,
    depth: Option<u32>,
    exclude: Vec<String>,
}

const RECORD: &[&str] = &["root", "depth", "exclude"];

/// Reads a scenario.
pub fn read(path: &Path) -> Result<Plan, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    parse(&text).map_err(|what| Error::Scenario { path: path.to_owned(), what })
}

fn parse(text: &str) -> Result<Plan, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| located(&error, text))?;
    check_keys(&table)?;
    let File { left, right, query, record, restart_after } =
        toml::from_str(text).map_err(|error| located(&error, text))?;
    let kinds = [&left, &right].map(FileSide::kind);
    if kinds[0] != kinds[1] {
        return Err(format!("left is {} and right is {}: both must be the same", kinds[0].words(), kinds[1].words()));
    }
    let commands = [left.command.clone(), right.command.clone()];
    let sides = SIDES.into_iter().zip([left, right]).map(|(name, side)| side.build(name)).collect::<Result<_, _>>()?;
    let queries = match (kinds[0], commands) {
        (Kind::Command, [Some(left), Some(right)]) if query.is_empty() => {
            vec![Query { name: None, commands: vec![left, right], prepare: None }]
        }
        (Kind::Command, _) => {
            return Err("it has both `command` in its sides and [[query]]: queries are for servers (`start`), or are \
                        themselves what is measured, with DIYTRACE_SIDE and `env` to tell the sides apart"
                .to_owned());
        }
        _ if query.is_empty() => {
            return Err(
                "it has nothing to measure: add [[query]] with `name` and `command`, or `command` to both sides"
                    .to_owned(),
            );
        }
        _ => query.into_iter().map(FileQuery::build).collect(),
    };
    for (index, query) in queries.iter().enumerate() {
        if let Some(name) = query.name.as_ref().filter(|name| name.trim().is_empty()) {
            return Err(format!("[[query]] {} has no name: {name:?}", index + 1));
        }
        if let Some(name) =
            query.name.as_ref().filter(|_| queries[..index].iter().any(|other| other.name == query.name))
        {
            return Err(format!("two queries are called {name:?}"));
        }
    }
    let restart_after = restart_after.unwrap_or(RESTART_AFTER);
    Ok(Plan { sides, queries, restart_after, roots: record.root, depth: record.depth, excludes: record.exclude })
}

/// What a side is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Server,
    Command,
    Variables,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Self::Server => "a server (`start`)",
            Self::Command => "a `command`",
            Self::Variables => "neither `start` nor `command`",
        }
    }
}

impl FileSide {
    fn kind(&self) -> Kind {
        match (&self.start, &self.command) {
            (Some(_), _) => Kind::Server,
            (None, Some(_)) => Kind::Command,
            (None, None) => Kind::Variables,
        }
    }

    fn build(self, name: &'static str) -> Result<Side, String> {
        let Self { command, start, ready, stop, time_limit, settle, setup, cleanup, env } = self;
        let seconds = |key: &str, value: Option<f64>, default: f64| {
            let seconds = Duration::try_from_secs_f64(value.unwrap_or(default));
            seconds.map_err(|_| format!("`{key}` of [{name}] must be a number of seconds"))
        };
        if start.is_some() && command.is_some() {
            return Err(format!("[{name}] has both `start` and `command`: a server or a program"));
        }
        if start.is_none()
            && let Some(key) = [("ready", &ready), ("stop", &stop)].iter().find(|(_, value)| value.is_some())
        {
            return Err(format!("[{name}] has `{}` but no `start`", key.0));
        }
        let (limit, settle) = (seconds("time_limit", time_limit, LIMIT)?, seconds("settle", settle, SETTLE)?);
        let title = start.as_ref().or(command.as_ref()).cloned().unwrap_or_default();
        let server = start.map(|start| Server { start, ready, limit, stop, settle });
        Ok(Side { name, title, environment: env.into_iter().collect(), setup, cleanup, server })
    }
}

impl FileQuery {
    fn build(self) -> Query {
        let Self { name, command, prepare } = self;
        Query { name: Some(name), commands: vec![command; SIDES.len()], prepare }
    }
}

/// Says which key is not known, where, and what may have been meant.
fn check_keys(table: &toml::Table) -> Result<(), String> {
    let check = |table: &toml::Table, whose: &str, known: &[&str]| {
        let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
        let nearest: Vec<String> = nearest_names(key, known.iter().copied()).into_iter().map(str::to_owned).collect();
        let all = format!("; there are {}", known.join(", "));
        Err(format!("there is no key `{key}`{whose}{}", nearest_sentence(&nearest, &all)))
    };
    check(table, "", TOP)?;
    for (key, known) in [("left", SIDE), ("right", SIDE), ("record", RECORD)] {
        if let Some(table) = table.get(key).and_then(toml::Value::as_table) {
            check(table, &format!(" in [{key}]"), known)?;
        }
    }
    let queries = table.get("query").and_then(toml::Value::as_array);
    for query in queries.into_iter().flatten().filter_map(toml::Value::as_table) {
        check(query, " in [[query]]", QUERY)?;
    }
    Ok(())
}

/// What the parser says, in one line, with the line it is about.
fn located(error: &toml::de::Error, text: &str) -> String {
    let line = error
        .span()
        .map(|span| 1 + text.as_bytes()[..span.start.min(text.len())].iter().filter(|&&byte| byte == b'\n').count());
    let message = error.message().lines().collect::<Vec<_>>().join(" ");
    match line {
        Some(line) if line > 1 || !message.starts_with("missing field") => format!("line {line}: {message}"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVERS: &str = r#"
        [left]
        start = "./a"
        ready = "./ping"
        env = { PORT = "5001" }
        [right]
        start = "./b"
        settle = 0.5
        [[query]]
        name = "sort"
        command = "./client $PORT"
        [record]
        root = ["handle_*"]
        depth = 3
    "#;

    #[test]
    fn servers_and_their_queries() {
        let plan = parse(SERVERS).unwrap();
        let names: Vec<_> = plan.sides.iter().map(|side| (side.name, side.title.as_str())).collect();
        assert_eq!(names, [("left", "./a"), ("right", "./b")]);
        assert_eq!(plan.sides[0].environment, [("PORT".to_owned(), "5001".to_owned())]);
        let [left, right] = [0, 1].map(|side| plan.sides[side].server.clone().unwrap());
        assert_eq!((left.ready.as_deref(), left.limit.as_secs(), right.settle.as_millis()), (Some("./ping"), 60, 500));
        assert_eq!(plan.queries[0].commands, ["./client $PORT"; 2]);
        assert_eq!(plan.restart_after, 1);
        assert_eq!(parse(&format!("restart_after = 0\n{SERVERS}")).unwrap().restart_after, 0);
        assert_eq!((plan.roots, plan.depth), (vec!["handle_*".to_owned()], Some(3)));
    }

    #[test]
    fn commands_and_queries_alone() {
        let plan = parse("[left]\ncommand = 'a'\n[right]\ncommand = 'b'\n").unwrap();
        assert_eq!(
            (plan.queries[0].name.as_ref(), &plan.queries[0].commands[..]),
            (None, &["a".to_owned(), "b".to_owned()][..])
        );
        let plan = parse("left.env.P = 'a'\nright.env.P = 'b'\n[[query]]\nname = 'x'\ncommand = '$P x'\n").unwrap();
        assert!(plan.sides.iter().all(|side| side.server.is_none()));
        assert_eq!(plan.queries[0].commands, ["$P x", "$P x"]);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, expected) in [
            (SERVERS.replace("ready", "raedy"), "there is no key `raedy` in [left]; did you mean `ready`?"),
            (SERVERS.replace("[[query]]", "[[querry]]"), "there is no key `querry`; did you mean `query`?"),
            (
                SERVERS.replace("depth", "colour"),
                "there is no key `colour` in [record]; there are root, depth, exclude",
            ),
            (SERVERS.replace("name =", "nam ="), "there is no key `nam` in [[query]]; did you mean `name`?"),
            (SERVERS.replace("0.5", "'x'"), "line 8: invalid type: string"),
            (SERVERS.replace("0.5", "-1"), "`settle` of [right] must be a number of seconds"),
            (SERVERS.replace("[right]", "[right"), "line 6: "),
            (
                SERVERS.replace("start = \"./b\"", "command = \"./b\""),
                "left is a server (`start`) and right is a `command`",
            ),
            (SERVERS.replace("start = \"./a\"", "start = \"./a\"\ncommand = \"./a\""), "[left] has both"),
            ("[left]\n[right]\n".to_owned(), "it has nothing to measure"),
            ("[left]\n".to_owned(), "missing field `right`"),
            ("[left]\nstop='x'\n[right]\n".to_owned(), "[left] has `stop` but no `start`"),
            (format!("{SERVERS}\n[[query]]\nname = 'sort'\ncommand = ''\n"), "two queries are called \"sort\""),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(expected) && !error.contains('\n'), "{expected}: {error}");
        }
    }

    #[test]
    fn the_known_keys_are_those_that_are_read() {
        let side: String = SIDE
            .iter()
            .map(|key| match *key {
                "env" => "env = {}\n".to_owned(),
                "time_limit" | "settle" => format!("{key} = 1.5\n"),
                _ => format!("{key} = 'x'\n"),
            })
            .collect();
        toml::from_str::<FileSide>(&side).unwrap_or_else(|error| panic!("{error}"));
        let query: String = QUERY.iter().map(|key| format!("{key} = 'x'\n")).collect();
        toml::from_str::<FileQuery>(&query).unwrap_or_else(|error| panic!("{error}"));
        toml::from_str::<Record>("root = []\ndepth = 1\nexclude = []").unwrap_or_else(|error| panic!("{error}"));
    }
}
