import { useState } from 'preact/hooks'
import { api } from '../lib/api.ts'
import { html } from '../lib/html.ts'
import { canWrite } from '../lib/session.ts'
import { texts } from '../texts.ts'
import { DataTable, type Column } from './table/data-table.ts'
import { Failure } from './states.ts'

interface Sample {
  row_id: unknown
  value: unknown
  is_hidden?: true
}

/** Invalid rows are not stored: the rule is checked again when someone asks for them. */
export function InvalidRows({ table, id }: { table: string; id: string }) {
  const [samples, setSamples] = useState<readonly Sample[] | null>(null)
  const [note, setNote] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  if (!canWrite()) return null
  const load = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const { data } = await api.post('/api/v1/sdk/validity/{asset_id}/{rule_id}/check', {
        path: { asset_id: table, rule_id: id },
      })
      setSamples(data.invalid_samples.samples)
      setNote(data.invalid_samples.note)
    } catch (error) {
      setError(error)
    }
    setBusy(false)
  }
  return html`<section>
    ${error !== undefined && html`<${Failure} what=${texts.evidence.toLowerCase()} error=${error} retry=${load} />`}
    ${
      samples === null
        ? html`<button onClick=${load} disabled=${isBusy}>
            ${isBusy ? texts.checking : 'Check again and show invalid rows'}
          </button>`
        : html`<${SampleTable} samples=${samples} />`
    }
    ${note !== undefined && html`<p class="quiet">${note}</p>`}
  </section>`
}

const SAMPLE_COLUMNS: Column<Sample>[] = [
  { label: 'Row', cell: ({ row_id: row }) => html`<code>${describeValue(row)}</code>` },
  {
    label: texts.value,
    cell: ({ value, is_hidden: isHidden }) =>
      isHidden
        ? html`<span class="quiet">hidden: personal data</span>`
        : html`<code>${describeValue(value)}</code>`,
  },
]

function SampleTable({ samples }: { samples: readonly Sample[] }) {
  return html`<${DataTable}
    className="samples"
    caption=${html`<caption>
      ${texts.evidence}
    </caption>`}
    columns=${SAMPLE_COLUMNS}
    rows=${samples}
    keyOf=${(sample: Sample) => samples.indexOf(sample)}
    empty=${html`<p class="quiet">No invalid row is kept.</p>`}
  />`
}

function describeValue(value: unknown): string {
  if (value === null) return 'NULL'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
