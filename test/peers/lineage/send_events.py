"""Sends events with the Python client of OpenLineage: its address and key are in the environment, the sides in argv."""

import os
import sys
from datetime import datetime, timezone

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import (
    Dataset,
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    error_message_run,
    nominal_time_run,
    ownership_dataset,
    schema_dataset,
)
from openlineage.client.uuid import generate_new_uuid

PRODUCER = "https://example.com/peer"
namespace, upstream, downstream = sys.argv[1:4]
auth = {"type": "api_key", "apiKey": os.environ["KEY"]}
client = OpenLineageClient(
    config={"transport": {"type": "http", "url": os.environ["URL"], "auth": auth, "compression": "gzip"}}
)


def now() -> str:
    return datetime.now(timezone.utc).isoformat()


fields = [schema_dataset.SchemaDatasetFacetFields(name="id", type="int")]
column = column_lineage_dataset.InputField(
    namespace=namespace,
    name=upstream,
    field="id",
    transformations=[column_lineage_dataset.Transformation(type="DIRECT", subtype="IDENTITY")],
)
facets = {
    "schema": schema_dataset.SchemaDatasetFacet(fields=fields),
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={"id": column_lineage_dataset.Fields(inputFields=[column])}
    ),
    "ownership": ownership_dataset.OwnershipDatasetFacet(
        owners=[ownership_dataset.Owner(name="team:python", type="MAINTAINER")]
    ),
}
inputs = [InputDataset(namespace=namespace, name=upstream)]
outputs = [OutputDataset(namespace=namespace, name=downstream, facets=facets)]
job = Job(namespace="peer", name="python.run")
run_id = str(generate_new_uuid())
nominal = {"nominalTime": nominal_time_run.NominalTimeRunFacet(nominalStartTime=now())}
failed = {"errorMessage": error_message_run.ErrorMessageRunFacet(message="no space left", programmingLanguage="python")}
for state, run_facets in ((RunState.START, nominal), (RunState.FAIL, failed)):
    client.emit(
        RunEvent(
            eventType=state,
            eventTime=now(),
            run=Run(runId=run_id, facets=run_facets),
            job=job,
            producer=PRODUCER,
            inputs=inputs,
            outputs=outputs,
        )
    )
client.emit(
    JobEvent(
        eventTime=now(),
        job=Job(namespace="peer", name="python.job"),
        producer=PRODUCER,
        inputs=inputs,
        outputs=[OutputDataset(namespace="s3://lake", name="exports/orders")],
    )
)
client.emit(DatasetEvent(eventTime=now(), dataset=Dataset(namespace=namespace, name=upstream), producer=PRODUCER))
