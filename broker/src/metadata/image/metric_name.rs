//! Names of topics as metrics show them.

use std::borrow::Cow;

/// The name with underscores for dots: `a.b` and `a_b` would be the same metric, so there may only be one of them.
pub fn metric_name(topic: &str) -> Cow<'_, str> {
    if topic.contains('.') { Cow::Owned(topic.replace('.', "_")) } else { Cow::Borrowed(topic) }
}

/// Whether another topic could have the same metrics.
pub(super) fn is_ambiguous(topic: &str) -> bool {
    topic.contains(['.', '_'])
}
