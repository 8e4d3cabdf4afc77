//! What AlterConfigs and IncrementalAlterConfigs have in common.

use protocol::error::ErrorCode;
use protocol::types::Str;

/// Why a resource isn't altered.
pub(super) type Refusal = (ErrorCode, Str);

/// Has the controller alter the resources that aren't `refused` here, and gives the answers for all: first for those refused. `ask` gives the
/// controller's answers, or the code by which it failed as a whole.
pub(super) async fn alter<R: Clone, A>(
    resources: Vec<R>,
    refused: impl Fn(&R) -> Option<Refusal>,
    ask: impl AsyncFnOnce(Vec<R>) -> Result<Vec<A>, ErrorCode>,
    answer: impl Fn(&R, Refusal) -> A,
) -> Vec<A> {
    let (mut answers, mut wanted) = (Vec::new(), Vec::new());
    for resource in resources {
        match refused(&resource) {
            Some(refusal) => answers.push(answer(&resource, refusal)),
            None => wanted.push(resource),
        }
    }
    if wanted.is_empty() {
        return answers;
    }
    match ask(wanted.clone()).await {
        Ok(told) => answers.extend(told),
        Err(code) => {
            let failed = |resource| answer(resource, (code, Str::from_static(code.message())));
            answers.extend(wanted.iter().map(failed));
        }
    }
    answers
}
