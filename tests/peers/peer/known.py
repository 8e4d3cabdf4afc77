"""Where Ringlog's answers to Kafka's tools differ from Kafka's and stay so: each with the reason, as docs/compatibility.md tells it too.

A step that is named here must differ, and only in the lines that match: one that is the same again comes off the list.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Known:
    """Patterns of whole lines that one of the two alone prints. `codes`: exit codes of (Kafka, Ringlog) when they differ."""

    why: str
    kafka: tuple = ()
    ringlog: tuple = ()
    codes: tuple = ()


_OWN = r"ringlog\.\S+=.*"
# APIs of features that docs/compatibility.md names as not advertised.
_UNBUILT = (r"\S*(AddPartitionsToTxn|AddOffsetsToTxn|EndTxn|WriteTxnMarkers|TxnOffsetCommit|DescribeClientQuotas|AlterClientQuotas"
            r"|DescribeUserScramCredentials|AlterUserScramCredentials|DescribeTransactions|ListTransactions|UnregisterBroker|AddRaftVoter|RemoveRaftVoter"
            r"|ShareFetch|ShareAcknowledge|InitializeShareGroupState|ReadShareGroupState|WriteShareGroupState|DeleteShareGroupState|ReadShareGroupStateSummary"
            r"|DescribeShareGroupOffsets|AlterShareGroupOffsets|DeleteShareGroupOffsets|StreamsGroupTopologyDescriptionUpdate|UnregisterController"
            r"|GetTelemetrySubscriptions|PushTelemetry)\(\d+\):.*")
_FEATURE = (r"Feature: (eligible\.leader\.replicas|group|kraft|share|streams|transaction)\.version .*",)
_SET_UP = (r"(advertised\.listeners|broker\.id|controller\.listener\.names|controller\.quorum\.bootstrap\.servers|inter\.broker\.listener\.name"
           r"|listener\.security\.protocol\.map|listeners|log\.dir|node\.id|process\.roles)=.*")

STEPS = {
    "configs --describe --topic orders --all": Known("configs of our own", ringlog=(_OWN,)),
    "configs --describe --entity-type topics --all": Known("configs of our own", ringlog=(_OWN,)),
    "configs --describe --broker 1 --all": Known("configs of our own; no controller listener", kafka=(_SET_UP,), ringlog=(_OWN, _SET_UP)),
    "broker-api-versions": Known("transactions and the like aren't there yet", kafka=(_UNBUILT,), ringlog=(_UNBUILT,)),
    "features describe": Known("features that aren't there yet have level 0 only", kafka=_FEATURE, ringlog=_FEATURE),
    "features upgrade --feature group.version=9": Known("it has level 0 only", kafka=(r".* only supports versions 0-1",), ringlog=(r".* only supports versions 0-0",)),
    "metadata-quorum describe --status": Known("no controller listener is open", kafka=(r"CurrentVoters: .*",), ringlog=(r"CurrentVoters: .*",)),
    "cluster unregister --id 7": Known("UnregisterBroker isn't there yet", kafka=(r".*BrokerIdNotRegisteredException: Broker ID 7 .*",),
                                       ringlog=(r".*not support.*",), codes=(1, 0)),
    "transactions list": Known("there are no transactions yet", kafka=(r"TransactionalId .*",), ringlog=(r".*does not support LIST_TRANSACTIONS.*",), codes=(0, 1)),
    "transactions describe --transactional-id none": Known("there are no transactions yet", kafka=(r".*",), ringlog=(r"Failed to .*",)),
}
