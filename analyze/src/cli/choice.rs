//! Choices on the command line, and the one that all commands with text for people have.

use clap::ValueEnum;
use diytrace_views::view;

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
