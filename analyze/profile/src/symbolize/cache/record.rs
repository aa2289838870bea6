//! The bytes of what is known about a module.
//!
//! | bytes | what |
//! |---|---|
//! | 20 | [`MAGIC`], with the version |
//! | 4 | CRC-32 of what follows |
//! | rest | [`Key`] and [`Record`], as postcard writes them |

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Key;
use crate::symbolize::answers::{CallForm, Location, Probe, Symbol};
use crate::symbolize::known::Known;

/// How a file begins. Another form of the record needs another version.
const MAGIC: &[u8] = b"diytrace symbols v1\n";

/// Where the text of that number is.
type Text = u32;

/// What is known, in the order of addresses.
#[derive(Default, Serialize, Deserialize)]
struct Record<'a> {
    /// Each name and file once.
    #[serde(borrow)]
    texts: Vec<&'a str>,
    is_stripped: Option<bool>,
    starting: Vec<(u64, Vec<Extent>)>,
    enclosing: Vec<(u64, Option<Extent>)>,
    calls: Vec<(u64, CallForm)>,
    lines: Vec<(u64, Probe, Option<Line>)>,
}

/// A symbol.
#[derive(Serialize, Deserialize)]
struct Extent {
    name: Text,
    address: u64,
    size: u64,
}

/// A location.
#[derive(Serialize, Deserialize)]
struct Line {
    file: Text,
    line: u32,
}

/// The bytes of what is known.
pub fn write(key: &Key, known: &Known) -> Vec<u8> {
    let (starting, enclosing, lines) = (known.starting.sorted(), known.enclosing.sorted(), known.lines.sorted());
    let mut texts = Texts::default();
    let starting = starting.iter().map(|(at, all)| (*at, all.iter().map(|symbol| texts.extent(symbol)).collect()));
    let starting = starting.collect();
    let enclosing = enclosing.iter().map(|(at, found)| (*at, found.as_ref().map(|symbol| texts.extent(symbol))));
    let enclosing = enclosing.collect();
    let lines = lines.iter().map(|((at, probe), found)| (*at, *probe, found.as_ref().map(|found| texts.line(found))));
    let lines = lines.collect();
    let (is_stripped, calls) = (known.is_stripped.get().copied(), known.calls.sorted());
    let record = Record { texts: texts.list, is_stripped, starting, enclosing, calls, lines };
    // It only fails where there is no room, and a vector grows.
    let content = postcard::to_stdvec(&(key, record)).unwrap_or_default();
    [MAGIC, &crc32fast::hash(&content).to_le_bytes(), &content].concat()
}

/// What is known by these bytes, if they are whole and of this key.
pub fn read<'a>(bytes: &'a [u8], key: &Key) -> Option<Known<'a>> {
    let (checksum, content) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (kept, content): (Key, _) = postcard::take_from_bytes(content).ok()?;
    if kept != *key {
        return None;
    }
    let (record, rest): (Record<'a>, _) = postcard::take_from_bytes(content).ok()?;
    if rest.is_empty() { known(record) } else { None }
}

fn known(record: Record<'_>) -> Option<Known<'_>> {
    let text = |number: Text| record.texts.get(number as usize).copied();
    let symbol = |Extent { name, address, size }| Some(Symbol { name: text(name)?, address, size });
    let starting = |(at, all): (u64, Vec<Extent>)| Some((at, all.into_iter().map(symbol).collect::<Option<_>>()?));
    let enclosing = |(at, found): (u64, Option<Extent>)| match found {
        Some(found) => Some((at, Some(symbol(found)?))),
        None => Some((at, None)),
    };
    let line = |(at, probe, found): (u64, Probe, Option<Line>)| match found {
        Some(Line { file, line }) => Some(((at, probe), Some(Location { file: text(file)?.to_owned(), line }))),
        None => Some(((at, probe), None)),
    };
    let mut known = Known {
        is_stripped: record.is_stripped.map_or_else(Default::default, Into::into),
        starting: record.starting.into_iter().map(starting).collect::<Option<_>>()?,
        enclosing: record.enclosing.into_iter().map(enclosing).collect::<Option<_>>()?,
        calls: record.calls.into_iter().collect(),
        lines: record.lines.into_iter().map(line).collect::<Option<_>>()?,
        kept: 0,
    };
    known.kept = known.len();
    Some(known)
}

/// Each text once.
#[derive(Default)]
struct Texts<'a> {
    list: Vec<&'a str>,
    numbers: FxHashMap<&'a str, Text>,
}

impl<'a> Texts<'a> {
    fn add(&mut self, text: &'a str) -> Text {
        *self.numbers.entry(text).or_insert_with(|| {
            self.list.push(text);
            self.list.len() as Text - 1
        })
    }

    fn extent(&mut self, symbol: &Symbol<'a>) -> Extent {
        Extent { name: self.add(symbol.name), address: symbol.address, size: symbol.size }
    }

    fn line(&mut self, location: &'a Location) -> Line {
        Line { file: self.add(&location.file), line: location.line }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::elf::{Mapped, Stamp};
    use crate::merge::Module;
    use crate::symbolize::files::ModuleFiles;

    /// A key of this very program.
    static KEY: LazyLock<Key> = LazyLock::new(|| {
        let program = std::env::current_exe().unwrap();
        let files = ModuleFiles { code: Mapped::open(&program).ok(), ..Default::default() };
        let module =
            Module { build_id: vec![1, 2], files: Default::default(), is_instrumented: true, is_program: true };
        Key::of(Stamp::at(Path::new("/")).unwrap(), &module, files.by_role()).unwrap()
    });

    fn known(facts: &[(u64, String)]) -> Known<'_> {
        let symbol = |address: u64, name| Symbol { name, address, size: address / 2 };
        let mut known = Known {
            starting: facts
                .iter()
                .map(|(at, name)| (*at, Box::from([symbol(*at, name), symbol(*at, "alias")])))
                .collect(),
            enclosing: facts.iter().map(|(at, name)| (*at, (at % 3 > 0).then(|| symbol(at / 3, name)))).collect(),
            calls: facts.iter().map(|(at, _)| (*at, CallForm::Direct(at / 5))).collect(),
            lines: facts
                .iter()
                .map(|(at, name)| {
                    ((*at, Probe::Call), (at % 5 > 0).then(|| Location { file: name.clone(), line: *at as u32 }))
                })
                .collect(),
            ..Known::default()
        };
        known.is_stripped = (facts.len() > 9).into();
        known
    }

    fn all(known: &Known) -> String {
        let (starting, enclosing) = (known.starting.sorted(), known.enclosing.sorted());
        format!("{:?}", (known.is_stripped.get(), starting, enclosing, known.calls.sorted(), known.lines.sorted()))
    }

    fn facts() -> impl Strategy<Value = Vec<(u64, String)>> {
        prop::collection::vec((any::<u64>(), "[a-z]{0,3}"), 0..20)
    }

    proptest! {
        #[test]
        fn what_is_kept_comes_back(facts in facts()) {
            let known = known(&facts);
            let bytes = write(&KEY, &known);
            let back = read(&bytes, &KEY).unwrap();
            prop_assert_eq!(all(&back), all(&known));
            prop_assert!(!back.has_news());
        }

        #[test]
        fn one_wrong_byte_is_a_miss(facts in facts(), at in any::<prop::sample::Index>(), change in 1u8..) {
            let mut bytes = write(&KEY, &known(&facts));
            let at = at.index(bytes.len());
            bytes[at] ^= change;
            prop_assert!(read(&bytes, &KEY).is_none());
        }

        #[test]
        fn a_part_is_a_miss(facts in facts(), at in any::<prop::sample::Index>()) {
            let bytes = write(&KEY, &known(&facts));
            prop_assert!(read(&bytes[..at.index(bytes.len())], &KEY).is_none());
        }

        #[test]
        fn bytes_that_somebody_made_up_do_no_harm(
            content in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..200),
            has_key in any::<bool>(),
        ) {
            let key = if has_key { postcard::to_stdvec(&*KEY).unwrap() } else { Vec::new() };
            let content = [key, content].concat();
            let bytes = [MAGIC, &crc32fast::hash(&content).to_le_bytes(), &content].concat();
            let _ = read(&bytes, &KEY);
        }
    }

    #[test]
    fn it_is_only_for_its_key() {
        let module = |build_id| Module { build_id, files: Default::default(), is_instrumented: true, is_program: true };
        let opened = |path: &Path| ModuleFiles { code: Mapped::open(path).ok(), ..Default::default() };
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("file");
        std::fs::write(&file, "one").unwrap();
        let (maker, files) = (Stamp::at(here.path()).unwrap(), opened(&file));
        let key = |maker, build_id: u8| Key::of(maker, &module(vec![build_id]), files.by_role()).unwrap();
        let bytes = write(&key(maker, 1), &known(&[]));
        assert!(read(&bytes, &key(maker, 1)).is_some());
        assert!(read(&bytes, &key(maker, 2)).is_none(), "another build");
        assert!(read(&bytes, &key(files.code.as_ref().unwrap().stamp, 1)).is_none(), "another diytrace");
        assert!(Key::of(maker, &module(vec![]), files.by_role()).is_none(), "without a build ID, and just written");
        std::fs::write(&file, "two").unwrap();
        let changed = Key::of(maker, &module(vec![1]), opened(&file).by_role()).unwrap();
        assert!(read(&bytes, &changed).is_none(), "the same build, but its file has changed");
        assert!(
            Key::of(maker, &module(vec![1]), ModuleFiles::default().by_role()).is_none(),
            "there is nothing to know"
        );
    }
}
