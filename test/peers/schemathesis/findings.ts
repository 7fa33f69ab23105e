/** A failure of a check of Schemathesis, as `hooks.py` writes it down. */
export interface Finding {
  code: string
  title: string
  message: string
  operation: string
  url: string
  /** The content type of the request. */
  type: string | null
  body: string | null
  status: number
  reply: string
}

/** Operations without a reply of 2xx or 3xx, with the reason. */
export const NEVER_SUCCEED: Record<string, string> = {
  'GET /api/v1/oauth/{provider_type}/callback': 'only the provider knows the code',
  'GET /openapi.json': 'Schemathesis reads it first, and tests all others',
}

/** What a check reports and we leave as it is, by the operation and what was said. */
interface Accepted {
  operation: RegExp
  /** An error in the reply for ST202, which needs an entry for each of them; for others the message of the check. */
  said: RegExp
  reason: string
}

/** A request that the document allows was refused. */
const REFUSED: Accepted[] = [
  {
    operation: /./,
    said: /^The (body|path or query) holds a NUL character: remove it$/,
    reason: 'no text with a NUL is taken anywhere, which the schema of each text would have to repeat',
  },
  {
    operation: / \/api\/v1\/(sdk|assets|freshness|contracts|auth\/preferences)/,
    said: /there is no (table|column|schema) |has no column |names no (user, team or address|profile of this table)|is no table: There is no such asset|is no check of |match(es)? no table|did you mean|does not exist|must be the id of a profile|(must be|is not a path such as) (catalog\.)?schema\.table|names no |has no (timestamp|numeric|text) column/,
    reason: 'names of tables, columns, people and checks depend on what is stored',
  },
  {
    operation: / \/api\/v1\/(sdk|assets|freshness|contracts)/,
    said: /is a (table|source)[,;:]|must be a (table|source)|filters the tables of a source|is for tables|choose tables of a source|unless asset_id is a table|^Of a table only|which is a table$|is another table than the asset/,
    reason: 'one parameter names sources and tables, of which an operation may take one',
  },
  {
    operation: /^(POST|PATCH|PUT) \/api\/v1\/sdk\/alerts\/destinations/,
    said: /\bconfig\.|Mail cannot be sent from here/,
    reason: 'the form of config depends on destination_type, which stands beside it',
  },
  {
    operation: /^(POST|PATCH) \/api\/v1\/sdk\/assets(\/\{asset_id\})?$/,
    said: /connection_config|^private_key is missing/,
    reason: 'the form of connection_config depends on source_type, which stands beside it',
  },
  {
    operation: /^(POST|PATCH) \/api\/v1\/sdk\/(validity|metrics)\//,
    said: /rule_config|allowed_values|^column_name (is required|cannot be given|names)|give min or max|percentile_value|backfill_days needs|operating_schedule_id|works on .* columns|expected_|sql_expression|group_by_columns|^unknown field `/,
    reason: 'what a check needs depends on its type; extensions add types with fields of their own',
  },
  {
    operation: /^GET /,
    said: /cannot be given together|needs from beside it|contradicts is_active/,
    reason: 'OpenAPI has no words for parameters that exclude each other',
  },
  {
    operation:
      /^GET .*\/usage$|^POST \/api\/(v1\/api-keys|public\/events)$|\/snooze$|^GET .*\/(alerts|incidents|audit-log)/,
    said: /must not lie after|must (lie|be) in the (future|past)|must lie within|must be (after|before)|may lie \d+ days apart|must be \S+ or (earlier|later)/,
    reason: 'what is right depends on the time, or on another value',
  },
  {
    operation: /^POST \/api\/(v1\/(lineage|sdk\/lineage\/dbt)|public\/events)$/,
    said: /is more than a day in the future|^run_results has no time in metadata\.generated_at$/,
    reason: 'no schema knows the time of now, and the artifacts of dbt have times as texts',
  },
  {
    operation: /^POST \/api\/v1\/lineage$/,
    said: /must be a text of 1 to 2000 characters$/,
    reason: 'no text with a NUL is taken, here with the sentence of its length',
  },
  {
    operation: / \/api\/v1\/sdk\/(assets|freshness\/schedules\/bulk)/,
    said: /^(include|exclude)_patterns\.\d+ must be table, schema\.table/,
    reason: 'quoted parts of names are no regular expression that is worth reading',
  },
  {
    operation: /./,
    said: /timezone must be an IANA time zone such as Europe\/Berlin$/,
    reason: 'the time zones that a server knows are no list of the document',
  },
  {
    operation: /^POST \/api\/v1\/auth\/(change-password|register)$/,
    said: /^Choose another password|^This invitation has ended/,
    reason: 'only its owner knows a secret, and the rules for passwords are more than a length',
  },
  {
    operation:
      /^POST \/api\/v1\/oauth\/\{provider_type\}\/link$|^GET \/api\/v1\/oauth\/\{provider_type\}\/authorize$/,
    said: /^redirect_uri must be an address of this service|^old_password is required: your user has a password/,
    reason: 'it depends on the address of the service, and on the user',
  },
  {
    operation: /^POST \/api\/v1\/sdk\/monitors\/\{asset_id\}\/(plan|apply)$/,
    said: /^[^]+: [^]|^files\.\d+ repeats item/,
    reason: 'a monitors file has a JSON Schema of its own, and its message begins with its name',
  },
  {
    operation:
      /^(PUT \/api\/v1\/sdk\/contracts\/\{name\}|POST \/api\/v1\/sdk\/assets\/\{asset_id\}\/contract-test)$/,
    said: /^(contract: )?(line \d+: )?expected |^line \d+: |^unknown field `|^source is required for a new contract/,
    reason: 'a contract has a JSON Schema of its own; a new one needs a source',
  },
  {
    operation: /^POST \/api\/(public|v1)\/contracts\/(validate|\{asset_id\}\/(plan|apply))$/,
    said: /^line \d+: /,
    reason: 'a text that is no YAML has no verdict',
  },
  {
    operation:
      /^(GET|POST) \/api\/v1\/(assets\/\{asset_id\}\/freshness|freshness|sdk\/freshness\/\{asset_id\})/,
    said: /^Freshness is not configured for /,
    reason: 'it depends on the schedules of the table',
  },
  {
    operation: /^(POST|PATCH) \/api\/v1\/sdk\/(freshness\/(schedules|dry-run)|assets)/,
    said: /freshness_(signal|expression|column)|must be a duration from|sla_threshold is required|does not report when|^The name .* holds characters/,
    reason:
      'what shows freshness depends on the engine; expressions are SQL; durations have a range, which a pattern does not say',
  },
  {
    operation:
      /^(POST|PATCH|PUT) \/api\/v1\/(sdk\/(recommendations\/apply|alerts\/(rules|preview)|referential|tags)|contracts\/export-jobs)/,
    said: /is required with scope |^check_past needs ids, at most 20$|^tag_filter_mode has no effect without tags|^min_child_count must not be above max_child_count|^object_path is required for a /,
    reason: 'it depends on the value of another field',
  },
  {
    operation: /^GET /,
    said: /^(schema|tag) must be (comma-separated values|names separated by commas), none of them empty/,
    reason: 'the style `form` has no word for an item that holds a comma',
  },
  {
    operation: /^(POST|PATCH) \/api\/v1\/auth\/preferences(\/onboarding\/events)?$/,
    said: /^unknown field `(properties|custom)\.`/,
    reason: 'a property without a name is refused, which only `propertyNames` could say',
  },
  {
    operation: /^(POST|PATCH|PUT) \/api\/v1\/sdk\/alerts\/rules/,
    said: /^destination_ids is empty: name a destination, or send is_active false$/,
    reason: 'it depends on whether the rule is active',
  },
  {
    operation: /./,
    said: /must start with https:\/\/|must be a URL that starts with/,
    reason: '`format: uri` names no scheme',
  },
  {
    operation: /./,
    said: /^[\w.]+ repeats item \d+: give each once$/,
    reason: 'names are compared without regard to case and white space',
  },
]

/** A request that the document forbids was taken. */
const TAKEN: Accepted[] = [
  {
    operation: /^POST \/api\/(public|v1)\/contracts\/(validate|\{asset_id\}\/(plan|apply))$/,
    said: /Invalid component: in body/,
    reason: 'what is no contract gets a verdict with status 200',
  },
  {
    operation: /^POST \/api\/v1\/lineage\/batch$/,
    said: /array with invalid items|(at|within) \/items\b/i,
    reason: 'the reply lists the events that were not stored',
  },
  {
    operation: /^POST \/api\/v1\/lineage$/,
    said: /Invalid component: (in body - )?dataset\b|\bfacets: /,
    reason: 'what an event holds beside what is used is not looked at, as other versions have more',
  },
  {
    operation: /^POST \/api\/v1\/sdk\/(alerts|incidents)\/\{id\}\/(resolve|dismiss)$/,
    said: /(external_link|pr_url): Value not matching the 'uri' format/,
    reason: 'an empty address counts as none, as forms send it',
  },
]

const ACCEPTED: Partial<Record<string, Accepted[]>> = { ST202: REFUSED, ST201: TAKEN }

/** Whether each error that a finding is about has an entry of the list. */
export function isAccepted(finding: Finding): boolean {
  const { code, operation, message } = finding
  const entries = (ACCEPTED[code] ?? []).filter(each => each.operation.test(operation))
  const errors = code === 'ST202' ? errorsOf(finding) : [message]
  return errors.every(error => entries.some(({ said }) => said.test(error)))
}

/** The errors in a reply, each by itself. */
function errorsOf({ reply }: Finding): string[] {
  if (!reply.startsWith('{"')) return [reply]
  const { error } = JSON.parse(reply) as {
    error: { message: string; details: { errors?: { error: string }[] } }
  }
  return error.details.errors?.map(each => each.error) ?? [error.message]
}
