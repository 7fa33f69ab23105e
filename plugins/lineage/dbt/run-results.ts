/** What lineage uses of run_results.json: what a command of dbt that executed something found. */
import { isTooFarAhead, TOO_FAR_AHEAD } from '../../../server/http/input.ts'
import { readTime } from '../../../server/times/read-time.ts'
import { isRecord, pickTexts, textOf, type Json } from '../json.ts'
import { ArtifactError } from './artifact-error.ts'

export interface DbtRunResults {
  generated_at: string
  invocation_id?: string
  /** The entries that were executed, without those that were only compiled. */
  results: { unique_id: string; status: string; failures?: number; message?: string; at?: string }[]
}

/** Longer texts of artifacts are cut. */
export const MAX_TEXT_LENGTH = 2_000

/**
 * Commands that execute no model and no test, as `args.which` of run_results.json names them. They overwrite the file of
 * the last run, with `success` for all that they compiled.
 */
const COMMANDS_WITHOUT_EXECUTION = new Set([
  'clean',
  'compile',
  'debug',
  'deps',
  'docs',
  'generate',
  'init',
  'list',
  'ls',
  'parse',
  'serve',
  'show',
])

/** Commands that build every model of which they write success, also where the engine's answer is left out (dbt 2). */
const COMMANDS_THAT_BUILD = new Set(['build', 'clone', 'run', 'seed', 'snapshot'])

/**
 * Reduces run_results.json. What is reduced already stays as it is; times stay as they are written.
 * @param timezone of times without an offset
 * @throws ArtifactError
 */
export function reduceRunResults(given: Json, timezone: string): DbtRunResults {
  if (!isRecord(given) || !Array.isArray(given.results))
    throw new ArtifactError('run_results', 'must be the object that run_results.json holds, with its results')
  const metadata = isRecord(given.metadata) ? given.metadata : given
  const generatedAt = textOf(metadata.generated_at)
  if (generatedAt === undefined || !readPast(generatedAt, timezone))
    throw new ArtifactError('run_results', 'has no time in metadata.generated_at')
  const args = isRecord(given.args) ? given.args : {}
  const command = textOf(args.which)?.toLowerCase() ?? ''
  const results = COMMANDS_WITHOUT_EXECUTION.has(command) ? [] : given.results
  const scope = { timezone, isBuild: COMMANDS_THAT_BUILD.has(command), isEmpty: args.empty === true }
  return {
    generated_at: generatedAt,
    ...pickTexts(metadata, ['invocation_id'] as const),
    results: results.flatMap((result: Json) => reduceResult(result, scope)),
  }
}

/** What holds for all results of a file. */
interface ResultScope {
  timezone: string
  isBuild: boolean
  /** Whether it ran with --empty. */
  isEmpty: boolean
}

function reduceResult(result: Json, { timezone, isBuild, isEmpty }: ResultScope): DbtRunResults['results'] {
  if (!isRecord(result)) return []
  const { unique_id: id, status } = pickTexts(result, ['unique_id', 'status'] as const)
  if (id === undefined || status === undefined) return []
  const isTest = /^(unit_)?test\./.test(id)
  // With --empty, every test reads no row, and passes.
  if (isTest && isEmpty) return []
  const isCompiled = isTest ? isUncounted(result) : !isBuild && isUnanswered(result)
  if (status.toLowerCase() === 'success' && isCompiled) return []
  const at = textOf(result.at) ?? completionOf(result.timing)
  const message = textOf(result.message)?.slice(0, MAX_TEXT_LENGTH)
  return [
    {
      unique_id: id,
      status,
      ...(typeof result.failures === 'number' && { failures: result.failures }),
      ...(message !== undefined && { message }),
      ...(at !== undefined && readPast(at, timezone) && { at }),
    },
  ]
}

/** Whether the query of a test was only compiled: a test that was executed counts its failures, none of them included. */
const isUncounted = ({ failures }: Record<string, Json>) => typeof failures !== 'number'

/** Whether a model was only compiled: an engine that creates something answers, or the adapter has a message. */
function isUnanswered({ adapter_response: response, message }: Record<string, Json>): boolean {
  return isRecord(response) && Object.keys(response).length === 0 && !textOf(message)
}

/** @returns null for what is no time. @throws ArtifactError for one of the future */
function readPast(text: string, timezone: string): Date | null {
  const at = readTime(text, timezone)
  if (at && isTooFarAhead(at)) throw new ArtifactError('run_results', `holds ${text}, which ${TOO_FAR_AHEAD}`)
  return at
}

/** When the last phase of a result ended. */
function completionOf(timing: Json): string | undefined {
  if (!Array.isArray(timing)) return undefined
  const ends = timing.flatMap((phase: Json) => (isRecord(phase) ? (textOf(phase.completed_at) ?? []) : []))
  return ends.toSorted().at(-1)
}
