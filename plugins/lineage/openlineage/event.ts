/** Reading of OpenLineage events (specification 2-0-2), of which unknown facets and fields are left aside. */
import { isTooFarAhead, TOO_FAR_AHEAD } from '../../../server/http/input.ts'
import { isStorable } from '../../../server/database/storable.ts'
import { readTime } from '../../../server/times/read-time.ts'
import { ALL_COLUMNS, type SeenColumn } from '../api.ts'
import { mergeOwners, readOwners, type DeclaredOwner } from '../dbt/owners.ts'
import type { DatasetName } from '../datasets/namespaces.ts'
import { isRecord, textOf, type Json } from '../json.ts'

export interface EventDataset extends DatasetName {
  /** Other names of the same dataset. */
  symlinks: DatasetName[]
  owners: DeclaredOwner[]
  /** By input, the columns that come from it; null without such a facet. */
  columns: ColumnInput[] | null
  /** Inputs that a facet names without columns. */
  inputs: DatasetName[]
}

/** The columns that a dataset has from another one. */
interface ColumnInput extends DatasetName {
  pairs: SeenColumn[]
}

export const RUN_STATES = ['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL', 'OTHER'] as const
type RunEventType = (typeof RUN_STATES)[number]

interface EventRun {
  runId: string
  eventType: RunEventType
  nominalStart: Date | null
  nominalEnd: Date | null
  errorMessage: string | null
  parent: { namespace: string; name: string; runId: string } | null
}

/** An event as lineage uses it: of a run, of a job, or of a dataset, which then is the one output. */
export interface LineageEvent {
  kind: 'run' | 'job' | 'dataset'
  eventTime: Date
  producer: string
  job: { namespace: string; name: string } | null
  run: EventRun | null
  inputs: EventDataset[]
  outputs: EventDataset[]
  /** Datasets and other names that lists had beyond `MAX_DATASETS`: they are not stored. */
  omittedDatasets: number
}

/** What is wrong with an event. */
export interface EventProblem {
  field: string
  error: string
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
export const MAX_NAME_LENGTH = 2_000
const MAX_MESSAGE_LENGTH = 4_000
/** Datasets of one list that are stored; the rest is cut, since the state of the run is worth more than it. */
export const MAX_DATASETS = 1_000
/** Problems of an event that are listed: a million empty datasets have two each. */
const MAX_PROBLEMS = 20

/**
 * @param timezone of times without an offset: the setting `TIMEZONE`
 * @returns the event, or all that is wrong with it
 */
export function readEvent(
  given: Json,
  timezone: string,
): { event: LineageEvent } | { problems: EventProblem[] } {
  const problems: EventProblem[] = []
  if (!isRecord(given))
    return {
      problems: [
        {
          field: 'body',
          error: 'the body is one event of OpenLineage, as JSON; several go to /api/v1/lineage/batch',
        },
      ],
    }
  const reader = new FieldReader(problems, timezone)
  const eventTime = reader.time(given, 'eventTime')
  const kind = 'run' in given || 'eventType' in given ? 'run' : 'job' in given ? 'job' : 'dataset'
  const event: LineageEvent = {
    kind,
    eventTime: eventTime ?? new Date(0),
    producer: clip(textOf(given.producer) ?? ''),
    job: kind === 'dataset' ? null : reader.job(given.job),
    run: kind === 'run' ? reader.run(given) : null,
    inputs: kind === 'dataset' ? [] : reader.datasets(given.inputs, 'inputs'),
    outputs:
      kind === 'dataset'
        ? reader.dataset(given.dataset, 'dataset')
        : reader.datasets(given.outputs, 'outputs'),
    omittedDatasets: 0,
  }
  event.omittedDatasets = reader.omitted
  if (kind === 'dataset' && given.dataset === undefined)
    problems.splice(0, problems.length, {
      field: 'body',
      error: 'the body must have run and job (a RunEvent), job (a JobEvent) or dataset (a DatasetEvent)',
    })
  return problems.length > 0 ? { problems } : { event }
}

class FieldReader {
  readonly #problems: EventProblem[]
  readonly #timezone: string
  /** What lists had beyond `MAX_DATASETS`. */
  omitted = 0

  constructor(problems: EventProblem[], timezone: string) {
    this.#problems = problems
    this.#timezone = timezone
  }

  #refuse(field: string, predicate: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ field, error: `${field} ${predicate}` })
  }

  time(from: Record<string, Json>, name: string): Date | null {
    const at = this.#time(from[name])
    if (!at) this.#refuse(name, 'must be a time of ISO 8601, such as 2026-05-04T10:00:00Z')
    else if (isTooFarAhead(at)) this.#refuse(name, TOO_FAR_AHEAD)
    return at
  }

  #time(given: Json): Date | null {
    return readTime(withoutZoneName(textOf(given) ?? ''), this.#timezone)
  }

  #name(from: Record<string, Json>, name: string, where: string): string {
    const given = from[name]
    if (typeof given === 'string' && given !== '' && given.length <= MAX_NAME_LENGTH && isStorable(given))
      return given
    this.#refuse(`${where}.${name}`, `must be a text of 1 to ${MAX_NAME_LENGTH} characters`)
    return ''
  }

  job(given: Json): LineageEvent['job'] {
    if (!isRecord(given)) {
      this.#refuse('job', 'has a namespace and a name, as in {"namespace": "airflow", "name": "daily"}')
      return null
    }
    return { namespace: this.#name(given, 'namespace', 'job'), name: this.#name(given, 'name', 'job') }
  }

  run(event: Record<string, Json>): EventRun | null {
    const given = event.run
    if (!isRecord(given)) {
      this.#refuse('run', 'has the id of a run, as in {"runId": "<UUID>"}')
      return null
    }
    const runId = textOf(given.runId) ?? ''
    if (!UUID.test(runId)) this.#refuse('run.runId', 'must be a UUID')
    const eventType = RUN_STATES.find(known => known === String(event.eventType ?? 'OTHER').toUpperCase())
    if (!eventType) this.#refuse('eventType', `must be one of ${RUN_STATES.join(', ')}`)
    const facets = facetsOf(given)
    const nominal = isRecord(facets.nominalTime) ? facets.nominalTime : {}
    const failure = isRecord(facets.errorMessage) ? facets.errorMessage : {}
    return {
      runId: runId.toLowerCase(),
      eventType: eventType ?? 'OTHER',
      nominalStart: this.#time(nominal.nominalStartTime),
      nominalEnd: this.#time(nominal.nominalEndTime),
      errorMessage: textOf(failure.message)?.slice(0, MAX_MESSAGE_LENGTH) ?? null,
      parent: readParent(facets.parent ?? facets.parentRun),
    }
  }

  datasets(given: Json, where: string): EventDataset[] {
    if (given == null) return []
    if (!Array.isArray(given)) {
      this.#refuse(where, 'must be a list of datasets')
      return []
    }
    return this.#limit(given).flatMap((each: Json, index) => this.dataset(each, `${where}.${index}`))
  }

  #limit(given: readonly Json[]): readonly Json[] {
    this.omitted += Math.max(0, given.length - MAX_DATASETS)
    return given.slice(0, MAX_DATASETS)
  }

  #symlinks(given: Json): DatasetName[] {
    const identifiers = isRecord(given) && Array.isArray(given.identifiers) ? given.identifiers : []
    return this.#limit(identifiers).flatMap(readDatasetName)
  }

  dataset(given: Json, where: string): EventDataset[] {
    if (!isRecord(given)) {
      this.#refuse(where, 'has a namespace and a name, as in {"namespace": "airflow", "name": "daily"}')
      return []
    }
    const facets = facetsOf(given)
    const explicit = readExplicitLineage(facets.lineage)
    const columns = readColumnLineage(facets.columnLineage)
    return [
      {
        namespace: this.#name(given, 'namespace', where),
        name: this.#name(given, 'name', where),
        symlinks: this.#symlinks(facets.symlinks),
        owners: ownersIn(facets.ownership),
        columns: columns || explicit.columns ? [...(columns ?? []), ...(explicit.columns ?? [])] : null,
        inputs: this.#limit(explicit.inputs).flatMap(readDatasetName),
      },
    ]
  }
}

function facetsOf({ facets }: Record<string, Json>): Record<string, Json> {
  return isRecord(facets) ? facets : {}
}

function readParent(given: Json): EventRun['parent'] {
  if (!isRecord(given) || !isRecord(given.run) || !isRecord(given.job)) return null
  const [runId, namespace, name] = [given.run.runId, given.job.namespace, given.job.name].map(textOf)
  if (runId === undefined || !UUID.test(runId) || namespace === undefined || name === undefined) return null
  return { runId: runId.toLowerCase(), namespace: clip(namespace), name: clip(name) }
}

function readDatasetName(given: Json): DatasetName[] {
  if (!isRecord(given)) return []
  const [namespace, name] = [textOf(given.namespace), textOf(given.name)]
  return namespace && name ? [{ namespace: clip(namespace), name: clip(name) }] : []
}

/** Owners as `user:ann@example.com` or `team:data`, of which the kind is left out. */
function ownersIn(given: Json): DeclaredOwner[] {
  const owners = isRecord(given) && Array.isArray(given.owners) ? given.owners : []
  return mergeOwners(
    owners.slice(0, 20).flatMap((owner: Json) => {
      const name = isRecord(owner) ? textOf(owner.name) : undefined
      return readOwners(name?.replace(/^[a-z]+:(?!\/\/)/i, ''))
    }),
  )
}

/** The facet `columnLineage`: its fields, and in newer versions what decides which rows there are. */
function readColumnLineage(given: Json): ColumnInput[] | null {
  if (!isRecord(given) || !isRecord(given.fields)) return null
  const byInput = new Map<string, ColumnInput>()
  for (const [column, field] of Object.entries(given.fields))
    if (isRecord(field)) addInputs(byInput, field.inputFields, column)
  addInputs(byInput, given.dataset, ALL_COLUMNS)
  return [...byInput.values()]
}

/** The facet `lineage`: inputs of the whole and of fields. Jobs among them are no datasets. */
function readExplicitLineage(given: Json): { inputs: Json[]; columns: ColumnInput[] | null } {
  if (!isRecord(given)) return { inputs: [], columns: null }
  const whole = Array.isArray(given.inputs) ? (given.inputs as Json[]).filter(isDataset) : []
  const byInput = new Map<string, ColumnInput>()
  const fields = isRecord(given.fields) ? given.fields : {}
  for (const [column, field] of Object.entries(fields))
    if (isRecord(field) && Array.isArray(field.inputs))
      addInputs(byInput, field.inputs.filter(isDataset), column)
  addInputs(byInput, whole, ALL_COLUMNS)
  return {
    inputs: whole,
    columns: byInput.size > 0 ? [...byInput.values()] : null,
  }
}

const isDataset = (input: Json) => isRecord(input) && input.type !== 'JOB'

function addInputs(byInput: Map<string, ColumnInput>, inputs: Json, downstream: string): void {
  if (!Array.isArray(inputs)) return
  for (const input of inputs as Json[]) {
    const [dataset] = readDatasetName(input)
    const field = isRecord(input) ? textOf(input.field) : undefined
    if (!dataset || !field) continue
    const key = JSON.stringify([dataset.namespace, dataset.name])
    const known = byInput.get(key) ?? { ...dataset, pairs: [] }
    byInput.set(key, known)
    const kind = downstream === ALL_COLUMNS || isIndirect(input) ? 'indirect' : 'direct'
    known.pairs.push({ upstream: field, downstream, kind })
  }
}

/** Whether all transformations of an input field are such that no value comes from it. */
function isIndirect(input: Json): boolean {
  const given = isRecord(input) && Array.isArray(input.transformations) ? input.transformations : []
  const types = given.flatMap((each: Json) => (isRecord(each) ? [String(each.type).toUpperCase()] : []))
  return types.length > 0 && types.every(type => type === 'INDIRECT')
}

/** Some producers write a zone after an offset: `2026-05-04T10:00:00+02:00[Europe/Rome]`. */
function withoutZoneName(text: string): string {
  return text.endsWith(']') ? (text.split('[', 1)[0] ?? text) : text
}

const clip = (text: string) => text.slice(0, MAX_NAME_LENGTH)
