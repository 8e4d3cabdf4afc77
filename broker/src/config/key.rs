//! One config name and all that is known about it.

use super::error::ConfigError;
use super::value;

/// Kafka's types of values, as DescribeConfigs reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`, any case.
    Boolean,
    /// Text.
    String,
    /// 32-bit number.
    Int,
    /// 16-bit number.
    Short,
    /// 64-bit number.
    Long,
    /// Floating-point number.
    Double,
    /// Texts between commas.
    List,
    /// Name of a Java class; nothing here loads one.
    Class,
    /// Text that is never shown.
    Password,
}

impl Kind {
    /// The number DescribeConfigs v3+ gives for the type.
    pub const fn code(self) -> i8 {
        match self {
            Self::Boolean => 1,
            Self::String => 2,
            Self::Int => 3,
            Self::Short => 4,
            Self::Long => 5,
            Self::Double => 6,
            Self::List => 7,
            Self::Class => 8,
            Self::Password => 9,
        }
    }

    /// Kafka's word for the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::Int => "int",
            Self::Short => "short",
            Self::Long => "long",
            Self::Double => "double",
            Self::List => "list",
            Self::Class => "class",
            Self::Password => "password",
        }
    }
}

/// What a value must satisfy beyond its type.
#[derive(Debug, Clone, Copy)]
pub enum Valid {
    /// Nothing.
    Any,
    /// A number, no less than this.
    AtLeast(i64),
    /// A number between these, both allowed.
    Between(i64, i64),
    /// A fraction between these, both allowed.
    Ratio(f64, f64),
    /// Exactly one of these.
    OneOf(&'static [&'static str]),
    /// Each element one of these, one named twice counts once; may be empty.
    ListOf(&'static [&'static str]),
    /// Text that isn't empty.
    NonEmpty,
    /// A rule of its own.
    Rule {
        /// Checks a text; what it returns tells what is allowed, where Kafka has such a rule in Kafka's words.
        check: fn(&str) -> Result<(), String>,
        /// What is allowed, in short.
        allows: &'static str,
    },
}

/// Who may change a value while the broker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Nobody: it is read at start.
    ReadOnly,
    /// AlterConfigs on one broker.
    PerBroker,
    /// AlterConfigs on one broker or on all.
    ClusterWide,
    /// AlterConfigs only: it can't stand in a file.
    DynamicOnly,
}

/// Whether setting a name does something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It does what its doc says.
    Acts,
    /// It is accepted, checked and reported, but changes nothing, for this reason.
    Inert {
        /// Why, as a clause to follow "has no effect: ".
        reason: &'static str,
    },
}

/// One config name.
#[derive(Debug, Clone, Copy)]
pub struct ConfigKey {
    /// Kafka's name, or ours below `ringlog.`.
    pub name: &'static str,
    /// Type of its value.
    pub kind: Kind,
    /// Value when unset, as text; none is Kafka's null.
    pub default: Option<&'static str>,
    /// What the value must satisfy.
    pub valid: Valid,
    /// Who may change it while the broker runs.
    pub update: Update,
    /// Whether it acts.
    pub effect: Effect,
    /// What it means, with its unit.
    pub doc: &'static str,
}

impl ConfigKey {
    /// Checks a value of this name, type first, with Kafka's texts.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`], telling what is allowed.
    pub fn check(&self, text: &str) -> Result<(), ConfigError> {
        value::check(self.kind, &self.valid, text).map_err(|why| {
            // Of a list, Kafka names the element that isn't allowed.
            let fault = match self.valid {
                Valid::ListOf(allowed) => value::list(text).into_iter().find(|one| !allowed.contains(one)),
                _ => None,
            };
            ConfigError::invalid(self.name, self.shown(fault.unwrap_or(text)), why)
        })
    }

    /// The value as it may be shown to people.
    pub fn shown<'a>(&self, text: &'a str) -> &'a str {
        if self.is_sensitive() { "[hidden]" } else { text }
    }

    /// Whether the value must never be shown.
    pub fn is_sensitive(&self) -> bool {
        self.kind == Kind::Password
    }
}
