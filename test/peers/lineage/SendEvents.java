import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineageClient;
import io.openlineage.client.transports.ApiKeyTokenProvider;
import io.openlineage.client.transports.HttpConfig;
import io.openlineage.client.transports.HttpTransport;
import java.net.URI;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.UUID;

/** Sends a run with the Java client of OpenLineage, which Spark and Flink use. */
class SendEvents {
  public static void main(String[] args) {
    String namespace = args[0];
    ApiKeyTokenProvider token = new ApiKeyTokenProvider();
    token.setApiKey(System.getenv("KEY"));
    HttpConfig config = new HttpConfig();
    config.setUrl(URI.create(System.getenv("URL")));
    config.setAuth(token);
    config.setCompression(HttpConfig.Compression.GZIP);
    OpenLineageClient client = new OpenLineageClient(new HttpTransport(config));
    OpenLineage ol = new OpenLineage(URI.create("https://example.com/peer"));
    OpenLineage.Run run = ol.newRunBuilder().runId(UUID.randomUUID()).build();
    OpenLineage.Job job = ol.newJobBuilder().namespace("peer").name("java.run").build();
    List<OpenLineage.InputDataset> inputs =
        List.of(ol.newInputDatasetBuilder().namespace(namespace).name(args[1]).build());
    List<OpenLineage.OutputDataset> outputs =
        List.of(ol.newOutputDatasetBuilder().namespace(namespace).name(args[2]).build());
    for (OpenLineage.RunEvent.EventType type :
        List.of(OpenLineage.RunEvent.EventType.START, OpenLineage.RunEvent.EventType.COMPLETE))
      client.emit(
          ol.newRunEventBuilder()
              .eventType(type)
              .eventTime(ZonedDateTime.now())
              .run(run)
              .job(job)
              .inputs(inputs)
              .outputs(outputs)
              .build());
  }
}
