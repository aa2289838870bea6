//! Members of types in the expressions of a mangled name, such as `std::is_same<A, B>::value`, which `enable_if` is full of.
//!
//! gcc writes `sr TYPE NAME`, where TYPE is any type. The grammar has only some of them there, and cpp_demangle goes by the
//! grammar. So `sr St7is_sameI…E 5value` is handed to it as a braced value of that type, `tl St7is_sameI…E Li… E E`, whose
//! types, and the numbers that stand for those already met, are the same; what it makes of that, `std::is_same<…>{…}`, becomes
//! the member that was meant.
//!
//! Of a function with template arguments the first type is what it returns, but a constructor's is its first parameter, which
//! cpp_demangle leaves out. So such a constructor is handed to it with a type to return, which it leaves out in its place.
//!
//! Of parameters that are a pack, `T&&...`, it writes `&&` behind the last alone, and behind none if there are none. So the pack,
//! `Dp O T_`, is handed to it as a type that has marks, `U…mark U…mark T_`, and what it makes of that gets what the others lack
//! ([`crate::packs`]).

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::packs::Pack;

/// Added to a member's place, for values that nobody has written.
const MARK: u32 = 2_001_000_000;

/// What constructors are said to return: `void`.
const RETURNED: &str = "v";

/// A mangled name with its members of types as braced values, and what those stand for; with what its constructors return; and with its
/// packs of parameters marked.
pub struct Rewritten {
    /// The name for the demangler.
    pub symbol: String,
    /// What it makes of each member, and the member.
    members: BTreeMap<String, String>,
    packs: Vec<Pack>,
}

impl Rewritten {
    /// If there are any, and the name is made of what is known here.
    pub fn of(symbol: &str) -> Option<Self> {
        let may_have =
            |name: &&str| ["sr", "C1I", "C2I", "C3I", "C4I", "C5I", "Dp"].iter().any(|part| name.contains(part));
        let mangled = symbol.strip_prefix("_Z").filter(may_have)?;
        let mut walk = Walk { bytes: mangled.as_bytes(), ..Walk::default() };
        walk.encoding()?;
        let mut edits: Vec<(usize, usize, String)> = Vec::new();
        let mut members = BTreeMap::new();
        for (number, member) in walk.members.iter().enumerate() {
            let mark = MARK + number as u32;
            edits.push((member.start, member.start + "sr".len(), "tl".to_owned()));
            edits.push((member.name_length, member.end, format!("Li{mark}EE")));
            members.insert(format!("{{{mark}}}"), format!("::{}", &mangled[member.name..member.end]));
        }
        edits.extend(walk.constructors.iter().map(|&at| (at, at, RETURNED.to_owned())));
        let packs = walk.packs.iter().enumerate();
        edits.extend(packs.map(|(number, (at, pack))| (*at, at + pack.length(), pack.marked(number))));
        edits.sort();
        let (mut symbol, mut copied) = ("_Z".to_owned(), 0);
        for (from, to, text) in edits {
            symbol.push_str(&mangled[copied..from]);
            symbol.push_str(&text);
            copied = to;
        }
        symbol.push_str(&mangled[copied..]);
        let is_changed = copied > 0;
        let packs = walk.packs.into_iter().map(|(_, pack)| pack).collect();
        is_changed.then_some(Self { symbol, members, packs })
    }

    /// What was meant by what the demangler made of it.
    pub fn restore(&self, demangled: &str) -> String {
        let each = self.members.iter();
        let text = each.fold(demangled.to_owned(), |text, (marked, member)| text.replace(marked, member));
        // From the last on: one that lies in the name of another's function is before it.
        self.packs.iter().enumerate().rev().fold(text, |text, (number, pack)| pack.restore(number, text))
    }
}

/// A member of a type: where it is written.
struct Member {
    /// Where `sr` is.
    start: usize,
    /// Where the length of its name is, behind the type.
    name_length: usize,
    /// Where its name is.
    name: usize,
    /// The end of that.
    end: usize,
}

/// A walk through a mangled name: each step passes what it is named after, or gives up.
#[derive(Default)]
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    /// Whether the name that was passed last is that of a constructor with template arguments.
    is_constructor: bool,
    members: Vec<Member>,
    /// Where the first parameters of such constructors are.
    constructors: Vec<usize>,
    /// Of the template arguments that were passed last, how many each is, if it is a pack.
    arguments: Vec<Option<usize>>,
    /// How many are in the pack that was passed last.
    in_pack: usize,
    /// Where packs of parameters are.
    packs: Vec<(usize, Pack)>,
}

/// Names are nested as deep as anybody likes; a stack is not.
const DEEPEST: u32 = 128;

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn is_next(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_next = self.is_next(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    /// So many bytes.
    fn pass(&mut self, bytes: usize) -> Option<()> {
        self.at = self.at.checked_add(bytes).filter(|&end| end <= self.bytes.len())?;
        Some(())
    }

    /// One of these letters.
    fn eat_any(&mut self, letters: &str) -> bool {
        let is_next = self.peek().is_some_and(|byte| letters.as_bytes().contains(&byte));
        self.at += usize::from(is_next);
        is_next
    }

    /// Steps until `E`, and that.
    fn until_end(&mut self, step: fn(&mut Self) -> Option<()>) -> Option<()> {
        while !self.eat("E") {
            step(self)?;
        }
        Some(())
    }

    /// A step into something that may have itself inside.
    fn inside(&mut self, step: fn(&mut Self) -> Option<()>) -> Option<()> {
        self.depth += 1;
        let done = if self.depth > DEEPEST { None } else { step(self) };
        self.depth -= 1;
        done
    }

    /// Digits and capital letters, and `_`.
    fn sequence(&mut self) -> Option<()> {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) {
            self.at += 1;
        }
        self.eat("_").then_some(())
    }

    fn number(&mut self) -> Option<usize> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        core::str::from_utf8(&self.bytes[start..self.at]).ok()?.parse().ok()
    }

    /// A function and its parameters, or something else that has a name.
    fn encoding(&mut self) -> Option<()> {
        self.inside(Self::name)?;
        if self.is_constructor {
            self.constructors.push(self.at);
        }
        let arguments = core::mem::take(&mut self.arguments);
        while self.peek().is_some_and(|byte| byte != b'E' && byte != b'.' && byte != b'@') {
            let start = self.at;
            self.inside(Self::kind)?;
            if let Some((parameter, mut pack)) = Pack::parse(&self.bytes[start..self.at])
                && let Some(Some(count)) = arguments.get(parameter)
            {
                pack.count = *count;
                self.packs.push((start, pack));
            }
        }
        Some(())
    }

    fn name(&mut self) -> Option<()> {
        self.is_constructor = false;
        match self.peek()? {
            b'N' => return self.nested(),
            b'Z' => self.local(),
            b'S' => self.substitution(),
            _ => self.unqualified(),
        }?;
        self.arguments()
    }

    /// `N` qualifiers, parts, `E`.
    fn nested(&mut self) -> Option<()> {
        self.at += 1;
        while self.eat_any("rVKRO") {}
        let (mut before, mut last) = (0, 0);
        while !self.eat("E") {
            (before, last) = (last, self.peek()?);
            match last {
                b'I' => self.arguments(),
                b'S' => self.substitution(),
                b'T' => self.parameter(),
                b'M' => self.pass(1),
                b'D' if matches!(self.bytes.get(self.at + 1), Some(b't' | b'T')) => self.inside(Self::kind),
                _ => self.unqualified(),
            }?;
        }
        self.is_constructor = (before, last) == (b'C', b'I');
        Some(())
    }

    /// `Z` a function, `E`, and what is in it.
    fn local(&mut self) -> Option<()> {
        self.at += 1;
        self.inside(Self::encoding)?;
        if !self.eat("E") {
            return None;
        }
        if self.eat("s") {
            return self.discriminator();
        }
        if self.eat("d") {
            self.number();
            self.eat("_").then_some(())?;
        }
        self.inside(Self::name)?;
        self.discriminator()
    }

    /// Which of several in a function, if it says so.
    fn discriminator(&mut self) -> Option<()> {
        if self.eat("__") {
            return self.sequence();
        }
        if self.eat("_") {
            self.number()?;
        }
        Some(())
    }

    fn unqualified(&mut self) -> Option<()> {
        self.eat("L");
        match self.peek()? {
            b'0'..=b'9' => self.source_name(),
            b'C' => {
                self.at += 1;
                let is_inherited = self.eat("I");
                self.eat_any("12345").then_some(())?;
                if is_inherited { self.inside(Self::kind) } else { Some(()) }
            }
            b'D' => self.pass(1).filter(|()| self.eat_any("01245")),
            b'U' if self.eat("Ul") => {
                self.until_end(|walk| walk.inside(Self::kind))?;
                self.sequence()
            }
            b'U' if self.eat("Ut") => self.sequence(),
            b'a'..=b'z' if self.eat("cv") => self.inside(Self::kind),
            b'a'..=b'z' if self.eat("li") => self.source_name(),
            b'a'..=b'z' => self.pass(2),
            _ => None,
        }?;
        while self.eat("B") {
            self.source_name()?;
        }
        Some(())
    }

    fn source_name(&mut self) -> Option<()> {
        let length = self.number()?;
        self.pass(length)
    }

    /// `St` and a name in there, or one that was met before.
    fn substitution(&mut self) -> Option<()> {
        self.at += 1;
        match () {
            () if self.eat("t") => self.unqualified(),
            () if self.eat_any("absiod") => Some(()),
            () => self.sequence(),
        }
    }

    fn parameter(&mut self) -> Option<()> {
        self.at += 1;
        self.sequence()
    }

    /// Template arguments, if there are any.
    fn arguments(&mut self) -> Option<()> {
        if !self.eat("I") {
            return Some(());
        }
        let mut arguments = Vec::new();
        while !self.eat("E") {
            let is_pack = self.is_next("J");
            self.inside(Self::argument)?;
            arguments.push(is_pack.then_some(self.in_pack));
        }
        self.arguments = arguments;
        Some(())
    }

    fn argument(&mut self) -> Option<()> {
        match self.peek()? {
            b'X' => {
                self.at += 1;
                self.inside(Self::expression)?;
                self.eat("E").then_some(())
            }
            b'L' => self.literal(),
            b'J' => {
                self.at += 1;
                let mut count = 0;
                while !self.eat("E") {
                    self.inside(Self::argument)?;
                    count += 1;
                }
                self.in_pack = count;
                Some(())
            }
            _ => self.kind(),
        }
    }

    /// A type.
    fn kind(&mut self) -> Option<()> {
        while self.eat_any("rVKPROCG") {}
        match self.peek()? {
            b'F' => {
                self.at += 1;
                self.eat("Y");
                while !self.eat("RE") && !self.eat("OE") && !self.eat("E") {
                    self.inside(Self::kind)?;
                }
                Some(())
            }
            b'A' => {
                self.at += 1;
                if self.number().is_none() && self.peek() != Some(b'_') {
                    self.inside(Self::expression)?;
                }
                self.eat("_").then_some(())?;
                self.inside(Self::kind)
            }
            b'M' => {
                self.at += 1;
                self.inside(Self::kind)?;
                self.inside(Self::kind)
            }
            b'T' => {
                self.parameter()?;
                self.arguments()
            }
            b'D' => self.other_kind(),
            b'u' => {
                self.at += 1;
                self.source_name()
            }
            b'a'..=b'z' => self.pass(1),
            _ => self.name(),
        }
    }

    /// A type that begins with `D`.
    fn other_kind(&mut self) -> Option<()> {
        self.at += 1;
        match () {
            () if self.eat_any("tT") => {
                self.inside(Self::expression)?;
                self.eat("E").then_some(())
            }
            () if self.eat_any("po") => self.inside(Self::kind),
            () => self.eat_any("nacdefhisuN").then_some(()),
        }
    }

    /// `L` a type and a value, `E`.
    fn literal(&mut self) -> Option<()> {
        self.at += 1;
        if self.eat("_Z") {
            self.inside(Self::encoding)?;
            return self.eat("E").then_some(());
        }
        self.inside(Self::kind)?;
        while !self.eat("E") {
            self.eat_any("n0123456789abcdef_").then_some(())?;
        }
        Some(())
    }

    fn expression(&mut self) -> Option<()> {
        match self.peek()? {
            b'L' => return self.literal(),
            b'T' => return self.parameter(),
            b'0'..=b'9' => {
                self.source_name()?;
                return self.arguments();
            }
            _ => {}
        }
        let start = self.at;
        self.at = (start + 2).min(self.bytes.len());
        match &self.bytes[start..self.at] {
            b"sr" => self.member(start),
            b"fp" | b"fL" => {
                while !self.eat("_") {
                    self.eat_any("0123456789rVKp").then_some(())?;
                }
                Some(())
            }
            b"st" | b"at" | b"ti" => self.inside(Self::kind),
            b"sZ" | b"sz" | b"az" | b"sp" | b"nt" | b"ng" | b"de" | b"ad" | b"co" | b"ps" | b"nx" => {
                self.inside(Self::expression)
            }
            b"cl" | b"il" => self.until_end(|walk| walk.inside(Self::expression)),
            b"tl" => {
                self.inside(Self::kind)?;
                self.until_end(|walk| walk.inside(Self::expression))
            }
            b"cv" => {
                self.inside(Self::kind)?;
                match self.eat("_") {
                    true => self.until_end(|walk| walk.inside(Self::expression)),
                    false => self.inside(Self::expression),
                }
            }
            b"dc" | b"sc" | b"cc" | b"rc" => {
                self.inside(Self::kind)?;
                self.inside(Self::expression)
            }
            b"qu" => (0..3).try_for_each(|_| self.inside(Self::expression).ok_or(())).ok(),
            b"dt" | b"pt" | b"pl" | b"mi" | b"ml" | b"dv" | b"rm" | b"an" | b"or" | b"eo" | b"lt" | b"gt" | b"le"
            | b"ge" | b"eq" | b"ne" | b"aa" | b"oo" | b"ls" | b"rs" | b"ss" | b"ix" | b"cm" => {
                self.inside(Self::expression)?;
                self.inside(Self::expression)
            }
            _ => None,
        }
    }

    /// What follows `sr`: a type, and the name of one of its members.
    fn member(&mut self, start: usize) -> Option<()> {
        self.inside(Self::kind)?;
        let name_length = self.at;
        self.number()?;
        let name = self.at;
        self.at = name_length;
        self.source_name()?;
        let end = self.at;
        // A member with arguments of its own is a template, and no value.
        if self.peek() == Some(b'I') {
            return None;
        }
        self.members.push(Member { start, name_length, name, end });
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demangle;

    #[test]
    fn members_of_any_type() {
        for (symbol, expected) in [
            (
                "_ZSt4exp2IiEN9__gnu_cxx11__enable_ifIXsrSt12__is_integerIT_E7__valueEdE6__typeES3_",
                "__gnu_cxx::__enable_if<std::__is_integer<int>::__value, double>::__type std::exp2<int>(int)",
            ),
            (
                "_Z3oneIiENSt9enable_ifIXntsrSt7is_sameIT_cE5valueEvE4typeES2_",
                "std::enable_if<!(std::is_same<int, char>::value), void>::type one<int>(int)",
            ),
            (
                "_ZN3BoxIiE3putIcEENSt9enable_ifIXsrNS0_3FitIT_EE5valueEvE4typeES3_",
                "std::enable_if<Box<int>::Fit<char>::value, void>::type Box<int>::put<char>(Box<int>::Fit)", // as c++filt has it
            ),
        ] {
            assert_eq!(demangle(symbol).as_deref(), Some(expected), "{symbol}");
        }
    }

    /// Two constructors had one name, and shared their numbers.
    #[test]
    fn constructors_with_template_arguments_have_all_parameters() {
        for (symbol, expected) in [
            ("_ZN1SC2IcEEiT_", "S::S<char>(int, char)"),
            ("_ZN1SC1IcEEPKcT_", "S::S<char>(char const*, char)"),
            ("_ZN1SC1IJEEEv", "S::S<>()"),
            ("_ZN3BoxIiEC1IcEERKS_IT_E", "Box<int>::Box<char>(Box<char> const&)"),
            ("_ZZN1SC1IcEET_iENKUlvE_clEv", "S::S<char>(char, int)::{lambda()#1}::operator()() const"),
            ("_ZN1S3putIcEEvT_", "void S::put<char>(char)"),
            ("_ZN1SC1Ei", "S::S(int)"),
        ] {
            assert_eq!(demangle(symbol).as_deref().unwrap_or(symbol), expected);
        }
    }

    #[test]
    fn what_is_not_understood_stays_as_it_is() {
        for symbol in
            ["_Z", "_Zsr", "_Z1fIXsrEEvv", "_Z1fIXsrSt1aI", "_Z9999sr", "_Z1fIXsrSt1a99999999999999999999bE", "_ZXsr"]
        {
            assert!(Rewritten::of(symbol).is_none(), "{symbol}");
        }
        let deep = format!("_Z1fI{}iXsrSt1a1bEE", "P".repeat(1000) + &"N".repeat(1000));
        assert!(Rewritten::of(&deep).is_none());
        let nested = format!("_Z1fI{}sr", "St1aI".repeat(100_000));
        assert!(Rewritten::of(&nested).is_none());
    }
}
