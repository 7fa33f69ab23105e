import { useState } from 'preact/hooks'
import { CopyButton } from '../forms/secret.tsx'
import { api } from '../lib/api.ts'
import { canWrite } from '../lib/session.ts'
import { texts } from '../texts.ts'
import { DataTable, type Column } from './table/data-table.tsx'
import { Failure } from './states.tsx'

/** Rows that are asked for: as many as one reads. */
const MAX_ROWS = 20

const loadRows = async (table: string, id: string) => {
  const { data } = await api.post('/api/v1/sdk/validity/{asset_id}/{rule_id}/check', {
    path: { asset_id: table, rule_id: id },
    body: { sample_limit: MAX_ROWS, whole_rows: true },
  })
  return { ...data.invalid_samples, count: data.invalid_count }
}
type InvalidSamples = Awaited<ReturnType<typeof loadRows>>
type Sample = InvalidSamples['samples'][number]

/** Invalid rows are not stored: the rule is checked again when someone asks for them. */
export function InvalidRows({ table, id }: { table: string; id: string }) {
  const [found, setFound] = useState<InvalidSamples | null>(null)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  if (!canWrite()) return null
  const load = async () => {
    setBusy(true)
    setError(undefined)
    try {
      setFound(await loadRows(table, id))
    } catch (error) {
      setError(error)
    }
    setBusy(false)
  }
  return (
    <section>
      {error !== undefined && (
        <Failure what={texts.evidence.toLowerCase()} error={error} retry={() => void load()} />
      )}
      {found === null ? (
        <button onClick={() => void load()} disabled={isBusy}>
          {isBusy ? texts.checking : 'Check again and show invalid rows'}
        </button>
      ) : (
        <>
          <SampleTable of={found} />
          {found.note !== undefined && found.samples.length > 0 && <p class="quiet">{found.note}</p>}
          {found.sql && <Statement sql={found.sql} />}
        </>
      )}
    </section>
  )
}

const hidden = <span class="quiet">hidden: personal data</span>

const SAMPLE_COLUMNS: Column<Sample>[] = [
  { label: 'Row', cell: ({ row_id: row }) => <code>{describeValue(row)}</code> },
  {
    label: texts.value,
    cell: ({ value, is_hidden: isHidden }) => (isHidden ? hidden : <code>{describeValue(value)}</code>),
  },
]

/** All columns of the rows, where the source gave them; else their keys and values. */
function columnsOf([first]: readonly Sample[]): Column<Sample>[] {
  const names = Object.keys(first?.row ?? {})
  if (names.length === 0) return SAMPLE_COLUMNS
  return names.map(name => ({
    label: <bdi>{name}</bdi>,
    cell: ({ row, hidden_columns: unseen }) =>
      unseen?.includes(name) ? (
        hidden
      ) : (
        <code>{describeValue((row as Record<string, unknown> | undefined)?.[name])}</code>
      ),
  }))
}

function SampleTable({ of: { samples, count, note } }: { of: InvalidSamples }) {
  const empty = count === 0 ? 'No row is invalid now.' : (note ?? texts.rowsNotShown)
  return (
    <DataTable
      className="samples"
      label={texts.evidence}
      caption={<caption>{texts.evidence}</caption>}
      columns={columnsOf(samples)}
      rows={samples}
      keyOf={(sample: Sample) => samples.indexOf(sample)}
      empty={<p class="quiet">{empty}</p>}
    />
  )
}

function Statement({ sql: { text, values } }: { sql: NonNullable<InvalidSamples['sql']> }) {
  return (
    <details class="section sql">
      <summary>SQL</summary>
      <pre tabindex={0} role="region" aria-label="SQL">
        <code>{text}</code>
      </pre>
      {values.length > 0 && (
        <p class="quiet">
          {texts.values}: <code>{values.map(describeValue).join(', ')}</code>
        </p>
      )}
      <CopyButton text={text} label="Copy SQL" />
    </details>
  )
}

function describeValue(value: unknown): string {
  if (value == null) return 'NULL'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
