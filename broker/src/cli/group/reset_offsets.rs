//! `ringlog group reset-offsets`: what Kafka's kafka-consumer-groups does by `--reset-offsets`.

mod csv;
mod plan;
mod report;
mod scope;
mod target;

use clap::Args;

use self::plan::{GroupPlan, plan_of};
use self::target::{Target, TargetArgs};
use super::all::{all_groups, has_offsets};
use super::topics::TopicArg;
use crate::cli::error::CliError;
use crate::cli::offsets::commit;
use crate::cli::session::{Session, at_coordinator};

#[cfg(test)]
pub(super) use self::{
    csv::Rows,
    plan::{Note, Range, next_offset},
    target::Target as ResetTarget,
};

/// Options of `group reset-offsets`.
#[derive(Debug, Args)]
pub(crate) struct ResetArgs {
    /// The groups' ids
    #[arg(required_unless_present = "all_groups", conflicts_with = "all_groups", value_name = "GROUP")]
    groups: Vec<String>,
    /// All groups of consumers
    #[arg(long)]
    all_groups: bool,
    /// A topic, or some of its partitions; may be repeated
    #[arg(long, short = 't', value_name = "TOPIC[:PARTITION,..]", required_unless_present_any = ["all_topics", "from_file"], conflicts_with_all = ["all_topics", "from_file"])]
    topic: Vec<TopicArg>,
    /// All topics that the group has committed offsets of
    #[arg(long, conflicts_with = "from_file")]
    all_topics: bool,
    #[command(flatten)]
    target: TargetArgs,
    /// Only show what would be done: the default
    #[arg(long, conflicts_with = "execute")]
    dry_run: bool,
    /// Do it
    #[arg(long)]
    execute: bool,
    /// Print the plan as CSV, as --from-file takes it: topic,partition,offset with one group named, else
    /// group,topic,partition,offset
    #[arg(long)]
    export: bool,
}

pub(crate) fn run(mut session: Session, args: &ResetArgs) -> Result<(), CliError> {
    let target = args.target.target(&args.groups)?;
    let groups = if args.all_groups { consumers(&mut session)? } else { args.groups.clone() };
    let mut plans = Vec::new();
    let mut failures = Vec::new();
    for group in &groups {
        // One group that can't be reset doesn't keep the others from it.
        match reset(&mut session, group, args, &target) {
            Ok(plan) => {
                failures.extend(plan.failure().map(|failure| (group.clone(), failure)));
                plans.push(plan);
            }
            Err(failure) => failures.push((group.clone(), failure)),
        }
    }
    report::write(&session, args, &plans, &failures)?;
    report::last_of(failures)
}

/// All groups that may have committed offsets, by id.
fn consumers(session: &mut Session) -> Result<Vec<String>, CliError> {
    let groups = all_groups(session)?;
    Ok(groups.iter().filter(|group| has_offsets(group)).map(|group| group.group_id.to_string()).collect())
}

fn reset(
    session: &mut Session,
    group: &str,
    args: &ResetArgs,
    target: &Target,
) -> Result<GroupPlan, CliError> {
    scope::must_be_empty(session, group)?;
    let mut plan = plan_of(session, group, args, target)?;
    if args.execute {
        let offsets = plan.offsets();
        plan.refused = at_coordinator(session, group, |session| commit(session, group, &offsets))?;
    }
    Ok(plan)
}
