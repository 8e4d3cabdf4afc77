//! Reading whole partitions, when nothing moves any more.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use protocol::error::ErrorCode;
use protocol::messages::FetchRequest;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::types::Str;

use crate::batch::{self, RecordId};
use crate::link::{Link, Lost};
use crate::story::Story;
use crate::topics::{Known, Place, Topic};

/// All records of a partition with their offsets.
pub(crate) type Content = Vec<(i64, RecordId)>;

/// Waits until the broker serves, then reads everything.
pub(crate) async fn read_all(story: Rc<Story>) -> BTreeMap<Place, Content> {
    loop {
        match try_read_all(&story).await {
            Ok(all) => return all,
            Err(lost) => story.note(format_args!("final read: {lost}")),
        }
        rt::sleep(Duration::from_millis(100)).await;
    }
}

async fn try_read_all(story: &Rc<Story>) -> Result<BTreeMap<Place, Content>, Lost> {
    let mut link = Link::open(story.broker(), "final").await?;
    let known = Known::ask(&mut link).await?;
    // With acks=1 the sync, and so the high watermark, may still follow.
    rt::sleep(Duration::from_secs(1)).await;
    let mut all = BTreeMap::new();
    for place in Topic::ALL.into_iter().flat_map(Topic::places) {
        all.insert(place, read_one(story, &mut link, &known, place).await?);
    }
    Ok(all)
}

async fn read_one(story: &Rc<Story>, link: &mut Link, known: &Known, place: Place) -> Result<Content, Lost> {
    let mut content = Content::new();
    let mut position = 0;
    loop {
        let partition = FetchPartition {
            partition: place.partition,
            fetch_offset: position,
            partition_max_bytes: 1 << 20,
            ..Default::default()
        };
        let topic = FetchTopic {
            topic: Str::from_static(place.topic.name()),
            topic_id: known.id(place.topic),
            partitions: vec![partition],
            ..Default::default()
        };
        let request = FetchRequest { topics: vec![topic], ..Default::default() };
        let asked = story.reads.borrow().ask(place);
        let response = link.call(&request, i16::MAX, Duration::ZERO).await?;
        let data = &response.responses[0].partitions[0];
        match ErrorCode::from_code(data.error_code) {
            ErrorCode::NONE => {}
            code => return Err(Lost::refused(place, code)),
        }
        let batches = data.records.as_ref().map(batch::split).unwrap_or_default();
        let read = story.reads.borrow_mut().fetched(asked, place, position, data.high_watermark, &batches);
        content.extend(read.0);
        position = read.1;
        if position >= data.high_watermark {
            return Ok(content);
        }
    }
}
