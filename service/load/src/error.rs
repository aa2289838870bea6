//! Why load cannot be made, as one sentence for the user.

use std::io;
use std::path::PathBuf;

/// Why load cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no address of a server.
    #[error(
        "`{text}` is no address of a server ({why}): write http://HOST:PORT/PATH, https://, postgres:// or redis://"
    )]
    Url {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It is no address of a database.
    #[error("that is no address of a database ({why}): write {form}")]
    Database {
        /// What is wrong with it.
        why: &'static str,
        /// How such an address is written.
        form: &'static str,
    },
    /// A database does not let us in.
    #[error("cannot log in at {host}: {why}")]
    Login {
        /// The host and its port.
        host: String,
        /// Why.
        why: String,
    },
    /// A query cannot be.
    #[error("`{text}` is no query: {why}")]
    Query {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A command of redis cannot be.
    #[error("`{text}` cannot be sent: {why}")]
    Command {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A database is asked nothing.
    #[error("say what the database is asked: --query 'SELECT …', or --requests FILE")]
    NoQuery,
    /// What is for another kind of server.
    #[error("{option} is for {kind}, which this is not")]
    NotForIt {
        /// The option.
        option: &'static str,
        /// For which.
        kind: &'static str,
    },
    /// The host has no address.
    #[error("{host} has no address ({source}): is its name right?")]
    Unknown {
        /// The host and its port.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// A worker may not make load there.
    #[error("this worker may not make load to {host}: start it with --load-target {host}, if it is to")]
    NotAllowed {
        /// The host and its port.
        host: String,
    },
    /// Nobody answers there.
    #[error("cannot connect to {host} ({}): is the server running?", .source.kind())]
    Away {
        /// The host and its port.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// TLS cannot be spoken.
    #[error("cannot speak TLS with {host} ({why}): is it http:// that the server speaks?")]
    Tls {
        /// The host and its port.
        host: String,
        /// Why.
        why: String,
    },
    /// The server's certificate is not believed.
    #[error("the certificate of {host} is not believed: {why}")]
    Certificate {
        /// The host and its port.
        host: String,
        /// Why.
        why: String,
    },
    /// Certificates that servers' must come from cannot be read.
    #[error("{}: {why}", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A rate cannot be.
    #[error("`{text}` is no rate: write requests a second, as in 100,200,400, or ramp, ramp:FROM, or max")]
    Rate {
        /// What was written.
        text: String,
    },
    /// A limit cannot be.
    #[error(
        "`{text}` is no limit: write as in p99>50ms, mean>2ms, errors>0, not_sent>1% or rate<1000 \
         (p50, p75, p90, p95, p99, p999, max, mean; errors, not_sent; rate)"
    )]
    Limit {
        /// What was written.
        text: String,
    },
    /// A header cannot be.
    #[error("`{}` is no header: write it as in 'Accept: text/html'", text.escape_debug())]
    Header {
        /// What was written.
        text: String,
    },
    /// A path cannot be.
    #[error("`{text}` is no path: write it as in /item/1?full, with %20 for a space")]
    Path {
        /// What was written.
        text: String,
    },
    /// A header is about a connection of HTTP/1.1.
    #[error("`{header}` is no header of HTTP/2: leave it out, or leave out --http2")]
    NotInHttp2 {
        /// Its name.
        header: String,
    },
    /// HTTP/2 is not spoken.
    #[error("{host} does not speak HTTP/2: leave out --http2, or have the server speak it (nginx: `listen … http2`)")]
    NoHttp2 {
        /// The host and its port.
        host: String,
    },
    /// A method cannot be.
    #[error("`{text}` is no method: write as in GET or POST")]
    Method {
        /// What was written.
        text: String,
    },
    /// What stands in braces in a path is nothing that is replaced.
    #[error("`{{{text}}}` in `{place}` stands for nothing: write {{seq}}, {{random:1-100}} or {{choice:a|b|c}}")]
    Placeholder {
        /// What is in the braces.
        text: String,
        /// Where.
        place: String,
    },
    /// A line of a file of requests cannot be.
    #[error("{}:{line}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which.
        line: usize,
        /// What is wrong with it, and what to write.
        why: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system does not give what is needed.
    #[error("cannot {what}: {source}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// Who is to make it, cannot.
    #[error(transparent)]
    Fleet(Box<dyn std::error::Error + Send + Sync>),
    /// The server's recording cannot be read.
    #[error(transparent)]
    Load(#[from] diytrace_profile::load::Error),
    /// What it says cannot be told.
    #[error(transparent)]
    Profile(#[from] diytrace_profile::error::Error),
    /// The profile store cannot be read.
    #[error(transparent)]
    Store(#[from] diytrace_store::Error),
    /// Nothing of the server has come there.
    #[error(
        "nothing of `{select}` has come into the store in a step: does an agent send it (`diytrace agent --to URL`)?"
    )]
    NothingSent {
        /// What was selected.
        select: String,
    },
    /// It has come in slices that are too long.
    #[error(
        "a step has fewer than {least} whole slices of `{select}` in the store: have its agent send more often (`diytrace agent --every \
         250ms`), or make longer steps (--duration)"
    )]
    TooCoarse {
        /// What was selected.
        select: String,
        /// How many there must be.
        least: usize,
    },
    /// Nothing records there.
    #[error("{} has no recording of a running program: start the server by `diytrace record -o {}`", folder.display(), folder.display())]
    NothingRecorded {
        /// The folder.
        folder: PathBuf,
    },
}
