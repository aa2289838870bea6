//! Choices on the command line, and the one that all commands with text for people have.

use clap::ValueEnum;
use diytrace_views::names::Names;
use diytrace_views::{report, view};

/// A choice on the command line for each value of an option in the library.
macro_rules! choice {
    ($visibility:vis $name:ident for $option:ty { $($(#[$help:meta])* $value:ident $(= $text:literal)?),+ $(,)? }) => {
        #[derive(Clone, Copy, Debug, Default, ValueEnum)]
        $visibility enum $name {
            #[default]
            $($(#[$help])* $(#[value(name = $text)])? $value),+
        }

        impl From<$name> for $option {
            fn from(value: $name) -> Self {
                match value {
                    $($name::$value => Self::$value),+
                }
            }
        }
    };
}
pub(super) use choice;

choice!(Color for view::Color { Auto, Always, Never });

/// Whether there are colours.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Colors {
    /// Colours for people; auto: at a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    color: Color,
}

impl From<Colors> for view::Color {
    fn from(Colors { color }: Colors) -> Self {
        color.into()
    }
}

choice!(Spelled for Names {
    /// Demangled, with parameters and template arguments
    Full,
    /// Without them, as far as that tells functions apart
    Short,
    /// As the linker knows them
    Mangled
});

/// How functions are named.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Naming {
    /// How C++ functions are named [default: short for people, full for programs]
    #[arg(long, value_enum, value_name = "HOW")]
    names: Option<Spelled>,
}

impl Naming {
    /// What was asked for, if anything was.
    pub fn chosen(self) -> Option<Names> {
        self.names.map(Into::into)
    }

    /// What was asked for, or suits a format.
    pub fn of(self, format: report::Format) -> Names {
        self.chosen().unwrap_or(match format {
            report::Format::Table => Names::Short,
            report::Format::Json | report::Format::Csv => Names::Full,
        })
    }
}
