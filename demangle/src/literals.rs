//! Numbers, and operators of them, as other tools write them: `3ul` where cpp_demangle has `(unsigned long)3`.

use alloc::format;
use alloc::string::String;

/// What stands behind a number of a type.
const SUFFIXES: [(&str, &str); 5] = [
    ("(unsigned int)", "u"),
    ("(unsigned long)", "ul"),
    ("(long)", "l"),
    ("(unsigned long long)", "ull"),
    ("(long long)", "ll"),
];

/// What cpp_demangle puts behind the name of a literal's operator, `operator_km`.
const OPERATOR: &str = "::operator \"\"";

/// A demangled name with numbers and literals' operators as other tools write them.
pub fn restored(mut name: String) -> String {
    for (cast, suffix) in SUFFIXES {
        let mut from = 0;
        while let Some(at) = name[from..].find(cast).map(|at| from + at) {
            let number = &name[at + cast.len()..];
            let digits = number.strip_prefix('-').unwrap_or(number);
            let length = digits.bytes().take_while(u8::is_ascii_digit).count();
            from = at + 1;
            if length > 0 {
                let (number, rest) = number.split_at(number.len() - digits.len() + length);
                name = format!("{}{number}{suffix}{rest}", &name[..at]);
            }
        }
    }
    while let Some(at) = name.find(OPERATOR) {
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let start = name[..at].rfind(|letter| !is_of_name(letter)).map_or(0, |before| before + 1);
        let Some(of) = name[start..at].strip_prefix("operator") else { break };
        name = format!("{}operator\"\" {of}{}", &name[..start], &name[at + OPERATOR.len()..]);
    }
    name
}

#[cfg(test)]
mod tests {
    use crate::demangle;

    #[test]
    fn numbers_and_operators_of_literals() {
        for (symbol, expected) in [
            ("_ZN3FixILm3EE3putEi", "Fix<3ul>::put(int)"),
            ("_Z3arrIiLm3EEvRAT0__T_", "void arr<int, 3ul>(int (&) [3ul])"),
            (
                "_Z4valsILb1ELc99ELh7ELxn5ELs2ELy1ELln1ELj4EEvv",
                "void vals<true, (char)99, (unsigned char)7, -5ll, (short)2, 1ull, -1l, 4u>()",
            ),
            ("_Zli3_kmy", "operator\"\" _km(unsigned long long)"),
            ("_ZN2nsli3_kmEy", "ns::operator\"\" _km(unsigned long long)"),
            ("_Z1fl", "f(long)"),
        ] {
            assert_eq!(demangle(symbol).as_deref().unwrap_or(symbol), expected);
        }
    }
}
