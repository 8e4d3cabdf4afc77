//! The schema model: what one text file of `schema/` says, before any Rust is written.
//!
//! Also compiled into the tests, which generate wire bytes from the same model.

/// A closed range of versions; an open end is `i16::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Versions {
    pub(crate) min: i16,
    pub(crate) max: i16,
}

impl Versions {
    pub(crate) fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    pub(crate) fn overlaps(self, other: Versions) -> bool {
        self.min <= other.max && other.min <= self.max
    }
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Response,
    /// Key of a record of an internal topic; its key number is the type before it.
    CoordinatorKey,
    /// Value of a record of an internal topic.
    CoordinatorValue,
    /// A record of the metadata log.
    Metadata,
    /// Anything else: embedded client data, control records, files.
    Data,
    /// An API key whose messages are gone.
    Removed,
}

/// One top-level message with every struct below it.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) key: Option<i16>,
    pub(crate) valid: Versions,
    /// First flexible version; `i16::MAX` when there is none.
    pub(crate) flexible_from: i16,
    pub(crate) on_broker: bool,
    pub(crate) on_controller: bool,
    /// What a broker advertises where it isn't `valid`; `Some(None)` is: not at all.
    pub(crate) advertised: Option<Option<Versions>>,
    /// The message itself is the first.
    pub(crate) structs: Vec<Struct>,
    pub(crate) line: usize,
}

impl Message {
    pub(crate) fn root(&self) -> &Struct {
        &self.structs[0]
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().skip(1).find(|s| s.name == name)
    }

    pub(crate) fn flexible(&self, version: i16) -> bool {
        version >= self.flexible_from
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) versions: Versions,
    pub(crate) nullable: Option<Versions>,
    pub(crate) tag: Option<u32>,
    pub(crate) default: Option<String>,
    pub(crate) ignorable: bool,
    pub(crate) line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U16,
    U32,
    F64,
    Uuid,
    String,
    Bytes,
    Records,
    Struct(String),
    Array(Box<Type>),
}

impl Type {
    /// Whether null has an encoding.
    pub(crate) fn can_be_null(&self) -> bool {
        matches!(self, Type::String | Type::Bytes | Type::Records | Type::Struct(_) | Type::Array(_))
    }

    /// The struct this is, or is an array of.
    pub(crate) fn struct_name(&self) -> Option<&str> {
        match self {
            Type::Struct(name) => Some(name),
            Type::Array(of) => of.struct_name(),
            _ => None,
        }
    }
}

impl Message {
    /// The fewest bytes a struct takes at any version where it can occur. A count of elements is checked
    /// against it before anything is allocated.
    pub(crate) fn min_bytes(&self, s: &Struct) -> usize {
        (self.valid.min..=self.valid.max)
            .filter(|&v| self.reaches(self.root(), &s.name, v) || s.name == self.name)
            .map(|v| self.bytes_at(s, v))
            .min()
            .unwrap_or(1)
    }

    fn reaches(&self, from: &Struct, name: &str, version: i16) -> bool {
        let present = from.fields.iter().filter(|f| f.versions.contains(version));
        present
            .filter_map(|f| f.ty.struct_name())
            .any(|n| n == name || self.find(n).is_some_and(|s| self.reaches(s, name, version)))
    }

    fn bytes_at(&self, s: &Struct, version: i16) -> usize {
        let flexible = self.flexible(version);
        let fields = s.fields.iter().filter(|f| f.tag.is_none() && f.versions.contains(version));
        let sum: usize = fields.map(|f| self.field_bytes(f, version, flexible)).sum();
        sum + usize::from(flexible)
    }

    fn field_bytes(&self, f: &Field, version: i16, flexible: bool) -> usize {
        match &f.ty {
            Type::Bool | Type::I8 => 1,
            Type::I16 | Type::U16 => 2,
            Type::I32 | Type::U32 => 4,
            Type::I64 | Type::F64 => 8,
            Type::Uuid => 16,
            Type::String => {
                if flexible {
                    1
                } else {
                    2
                }
            }
            Type::Bytes | Type::Records | Type::Array(_) => {
                if flexible {
                    1
                } else {
                    4
                }
            }
            Type::Struct(_) if f.nullable.is_some() => 1,
            Type::Struct(name) => self.find(name).map_or(0, |s| self.bytes_at(s, version)),
        }
    }
}
