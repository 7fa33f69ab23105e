/** The command `profile ASSET`: profiles a table or the tables of a source now, and prints what their columns hold. */
import { ConnectorError } from '../../connectors/errors.ts'
import {
  withRemoteOptions,
  withServiceErrors,
  withTimedClient,
  type ClientOptions,
  type ServiceClient,
} from '../../server/cli/client.ts'
import {
  CommandError,
  EXIT,
  printResult,
  unlessAborted,
  withCompanyOption,
  type CommandContribution,
} from '../../server/cli/command.ts'
import { runJob, type JobWatch } from '../../server/cli/client-job.ts'
import { alignCells, oneLine } from '../../server/cli/terminal-text.ts'
import { timeoutOption } from '../../server/cli/timeouts.ts'
import type { ProfileJobResult } from './api.ts'

interface ProfileCommandOptions extends ClientOptions {
  table?: string
  include?: string[]
  exclude?: string[]
  timeout: number
}

/** The columns of a profile that are printed, as the service returns them; unknown fields pass through. */
interface PrintedProfile {
  row_count: number
  is_sampled: boolean
  profiled_rows: number
  columns: PrintedColumn[]
}

interface PrintedColumn {
  name: string
  type: string
  null_percent: number | null
  distinct: number | null
  is_distinct_exact: boolean
  min: number | string | null
  max: number | string | null
  mean: number | null
  min_length: number | null
  max_length: number | null
  pattern: { name: string; share: number } | null
  is_key_candidate: boolean
  is_masked: boolean
}

/** Tables are profiled one after another, each statement for up to a minute. */
const DEFAULT_TIMEOUT_SECONDS = 7_200

export const profileCommand: CommandContribution = {
  name: 'profile',
  define(command, terminal, outcome) {
    withRemoteOptions(withCompanyOption(command.argument('<asset>')))
      .description('profile a table, or tables of a source, now: what their columns hold')
      .option(
        '--table <path>',
        'only this table of the source, by catalog.schema.table, or less where that is unambiguous',
      )
      .option('--include <pattern...>', 'tables of the source, such as public.*')
      .option('--exclude <pattern...>', 'tables to leave out, even if included')
      .addOption(timeoutOption('how long it may take', DEFAULT_TIMEOUT_SECONDS))
      .addHelpText('after', HELP)
      .action(async (asset: string, options: ProfileCommandOptions) => {
        outcome.unexpectedExitCode = EXIT.error
        const found = await withTimedClient(options, terminal.signal, async (client, signal) => {
          const result = await runProfile(client, asset, options, { signal, note: terminal.err })
          return { result, profile: await readOnlyProfile(client, result, signal) }
        })
        const { result, profile } = found
        const lines = profile ? formatProfile(result.asset, profile) : formatFindings(result)
        printResult(terminal, options, { ...result, ...(profile && { profile }) }, ...lines)
        outcome.exitCode = result.failed > 0 ? EXIT.failed : EXIT.success
      })
  },
}

const HELP = `
<asset> is an id or a qualified name: <source>.<database>.<schema>.<table> for a table, <source> for a source.

Ends with
  0  all tables were profiled
  1  some table could not be
  2  wrong usage, credentials or settings
  3  no such asset
  5  unknown: the source or the service cannot be reached

  tidemark profile shop.shop.public.orders
  tidemark profile shop --include 'public.*' --exclude '*.tmp_*'`

/** Profiles in this process when it uses the database directly (workers may not run), else as a job of the service. */
async function runProfile(
  client: ServiceClient,
  asset: string,
  { table, include, exclude }: ProfileCommandOptions,
  options: JobWatch,
): Promise<ProfileJobResult> {
  const body = {
    ...(table !== undefined && { table_path: table }),
    ...(include && { include_patterns: include }),
    ...(exclude && { exclude_patterns: exclude }),
  }
  return client.local
    ? runLocally(client.local, asset, body, options.signal)
    : runJob(
        client,
        {
          path: `/sdk/assets/${encodeURIComponent(asset)}/profile`,
          jobsPath: '/sdk/jobs',
          body,
          what: `The profile of ${asset}`,
          needs: 'profiles require a key of scope read-write',
        },
        options,
      )
}

async function runLocally(
  { server, companyId }: NonNullable<ServiceClient['local']>,
  asset: string,
  body: object,
  signal: AbortSignal,
): Promise<ProfileJobResult> {
  const { profiles } = server.plugins
  const found = await withServiceErrors(
    (async () => {
      const target = await server.db.company(companyId, trx => profiles.resolveTarget(trx, asset, body))
      return unlessAborted(profiles.profileAsset(target, { signal }), signal)
    })(),
  ).catch((error: unknown) => {
    if (!(error instanceof ConnectorError)) throw error
    throw new CommandError(oneLine(`The profile of ${asset} failed: ${error.message}`), EXIT.error)
  })
  if (!found) throw new CommandError(`The profile of ${asset} was cancelled`, EXIT.error)
  return found
}

/** The profile of the only table; undefined for several, or when it could not be read. */
async function readOnlyProfile(
  client: ServiceClient,
  { findings }: ProfileJobResult,
  signal: AbortSignal,
): Promise<PrintedProfile | undefined> {
  const [only] = findings
  if (!only || findings.length > 1 || only.status === 'error') return undefined
  const path = `/sdk/assets/${only.asset_id}/profile`
  return (await client.request<{ data: PrintedProfile }>('GET', path, signal)).body.data
}

/** One line per table, in aligned columns, and a line of totals. */
function formatFindings({ asset, findings, profiled, failed }: ProfileJobResult): string[] {
  const cells = findings.map(({ status, asset: table, row_count: rows, message }) => [
    status,
    oneLine(table),
    rows === null ? '' : `${rows} rows`,
    oneLine(message),
  ])
  const missing = failed > 0 ? `, ${failed} could not be` : ''
  return [...alignCells(cells), oneLine(`${profiled} tables of ${asset} were profiled${missing}`)]
}

const HEADINGS = ['column', 'type', 'nulls', 'distinct', 'range', 'pattern', '']

/** One line per column, in aligned columns, below a line of headings. */
function formatProfile(asset: string, profile: PrintedProfile): string[] {
  const sample = profile.is_sampled ? `, of which a sample of ${profile.profiled_rows} was read` : ''
  const cells = profile.columns.map(column => [
    oneLine(column.name),
    oneLine(column.type),
    column.null_percent === null ? '' : `${round(column.null_percent)} %`,
    column.distinct === null ? '' : `${column.is_distinct_exact ? '' : '~'}${column.distinct}`,
    rangeOf(column),
    column.pattern ? `${column.pattern.name} ${round(100 * column.pattern.share)} %` : '',
    [column.is_key_candidate ? 'key' : '', column.is_masked ? 'hidden' : ''].filter(Boolean).join(', '),
  ])
  return [...alignCells([HEADINGS, ...cells]), oneLine(`${asset}: ${profile.row_count} rows${sample}`)]
}

function rangeOf({ min, max, min_length: shortest, max_length: longest }: PrintedColumn): string {
  if (min !== null && max !== null) return `${min} – ${max}`
  return shortest === null ? '' : `${shortest} – ${longest} characters`
}

/** To two digits after the point. */
function round(value: number): string {
  return String(Math.round(value * 100) / 100)
}
