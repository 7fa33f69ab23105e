import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, type ContractPreview, type Table } from 'tidemark/client'
import { FieldNotes } from '../../forms/fields.tsx'
import { api } from '../../lib/api.ts'
import { useData } from '../../lib/data.ts'
import { navigate, useQuery } from '../../lib/router.ts'
import { notify } from '../../parts/notices.tsx'
import { Loaded, describeError } from '../../parts/states.tsx'
import { PlannedChecks } from './planned-checks.tsx'
import { contractTexts as texts } from './texts.ts'
import { BASE, contractAddress } from './contract-address.ts'

/** Something that is wrong in a document. */
interface Finding {
  path: string
  line: number | null
  message: string
}

interface Problems {
  name?: string
  source?: string
  contract?: string
  findings?: readonly Finding[]
}

interface Stored {
  name: string
  contract: string
  extra_columns: string
}

const loadSources = async (signal: AbortSignal) => {
  const { data } = await api.get('/api/v1/sdk/assets', {
    query: { asset_type: ['source'], limit: 100 },
    signal,
  })
  return data.data.map(({ name }) => name)
}

/** What a new contract starts from. */
interface Draft {
  name: string
  source: string
  contract: string
}

/** The contract that a table keeps now. */
async function loadDraft(table: string, signal: AbortSignal): Promise<Draft> {
  const path = { asset_id: table }
  const [asset, draft] = await Promise.all([
    api.get('/api/v1/sdk/assets/{asset_id}', { path, signal }),
    api.get('/api/v1/sdk/assets/{asset_id}/contract-draft', { path, signal }),
  ])
  const { name, source } = asset.data as Table
  return { name, source, contract: draft.data.contract }
}

/** A contract that is uploaded, pasted, or drafted from the table that the address names. */
export function NewContract() {
  const [query] = useQuery()
  const table = query.get('table')
  const start = useData(`start of a contract ${table}`, async signal => {
    const [sources, draft] = await Promise.all([
      loadSources(signal),
      table ? loadDraft(table, signal) : undefined,
    ])
    return { sources, draft }
  })
  return (
    <div class="page">
      <p class="path">
        <a href={BASE}>{texts.title}</a>
      </p>
      <h1>{table ? `Draft a contract from ${start.data?.draft?.name ?? table}` : texts.add}</h1>
      <p class="quiet start">
        {table ? (
          'This is what the table keeps now: its columns, types and keys, and its checks. Take out what its readers do not need.'
        ) : (
          <>
            {texts.addText} <a href="/catalog">catalog</a>
          </>
        )}
      </p>
      <Loaded of={start} what={table ? 'the draft' : 'sources'} rows={6}>
        {(found: { sources: string[]; draft?: Draft }) => <ContractForm {...found} />}
      </Loaded>
    </div>
  )
}

/** The document of a contract; of a new one its name and source, too. */
export function ContractForm({
  stored,
  draft,
  sources = [],
  reload,
}: {
  stored?: Stored
  draft?: Draft
  sources?: readonly string[]
  reload?: () => void
}) {
  const form = useRef<HTMLFormElement>(null)
  const summary = useRef<HTMLDivElement>(null)
  const [problems, setProblems] = useState<Problems>({})
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    if (problems.findings) summary.current?.focus()
    else form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [problems])
  const [plan, setPlan] = useState<ContractPreview>()
  /** @param isPlan asks what saving would do, and stores nothing */
  const send = async (isPlan: boolean) => {
    const given = new FormData(form.current ?? undefined)
    const name = stored?.name ?? String(given.get('name')).trim()
    const source = String(given.get('source') ?? '')
    const body = {
      contract: String(given.get('contract')),
      ...(!stored && { source }),
      extra_columns: given.has('extra') ? ('fail' as const) : ('allow' as const),
    }
    setBusy(true)
    try {
      if (isPlan) {
        const { data } = await api.post('/api/v1/sdk/contracts/{name}/plan', { path: { name }, body })
        setProblems({})
        setPlan(data)
        setBusy(false)
        return
      }
      await api.put('/api/v1/sdk/contracts/{name}', { path: { name }, body })
      setProblems({})
      setPlan(undefined)
      notify('Saved. Checks that are new run within a minute.')
      if (stored) reload?.()
      else navigate(contractAddress(name))
    } catch (error) {
      setProblems(readProblems(error))
    }
    setBusy(false)
  }
  const readFile = async (event: Event) => {
    const [file] = (event.target as HTMLInputElement).files ?? []
    const area = form.current?.elements.namedItem('contract') as HTMLTextAreaElement | null
    if (file && area) area.value = await file.text()
  }
  return (
    <form
      ref={form}
      class="form contract"
      onSubmit={(event: Event) => {
        event.preventDefault()
        void send(!plan)
      }}
      onInput={() => setPlan(undefined)}
    >
      {!stored && (
        <>
          <Named
            name="name"
            label={texts.name}
            hint="Letters, digits, dots, hyphens and underscores."
            problem={problems.name}
          >
            {(own: object) => (
              <input {...own} required maxlength={100} autocomplete="off" defaultValue={draft?.name ?? ''} />
            )}
          </Named>
          <Named name="source" label={texts.source} problem={problems.source}>
            {(own: object) => (
              <select {...own} required>
                {sources.map(source => (
                  <option key={source} value={source} selected={source === draft?.source}>
                    {source}
                  </option>
                ))}
              </select>
            )}
          </Named>
        </>
      )}
      <div class="field">
        <span>
          <label for="file">From a file</label>
        </span>
        <input
          id="file"
          type="file"
          accept=".yaml,.yml,.json"
          onChange={(event: Event) => void readFile(event)}
        />
      </div>
      <Named
        name="contract"
        label={texts.document}
        hint="YAML or JSON, version 3 of the standard."
        problem={problems.contract}
      >
        {(own: object) => (
          <textarea
            {...own}
            required
            rows={18}
            spellcheck={false}
            defaultValue={stored?.contract ?? draft?.contract ?? ''}
          />
        )}
      </Named>
      <div class="field flag">
        <label>
          <input type="checkbox" name="extra" defaultChecked={stored?.extra_columns === 'fail'} /> Fail on
          columns that the document does not name
        </label>
      </div>
      <div ref={summary} tabindex={-1} role="alert">
        {problems.findings && (
          <>
            <p class="bad">
              <strong>{texts.errors(problems.findings.length)}</strong>
            </p>
            <ul class="findings">
              {problems.findings.map(({ path, line, message }, n) => (
                <li key={n}>
                  {line !== null && (
                    <>
                      <strong>{texts.lineOf(line)}</strong>{' '}
                    </>
                  )}
                  <code>{path || '/'}</code> {message}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      {plan && <PlannedChecks plan={plan} />}
      <p class="actions">
        <button class="primary" disabled={isBusy}>
          {!plan ? texts.preview : stored ? 'Replace it' : 'Save and enforce'}
        </button>
      </p>
    </form>
  )
}

/** A field with its label, its hint, and what is wrong with it. */
function Named({
  name,
  label,
  hint,
  problem,
  children,
}: {
  name: string
  label: string
  hint?: string
  problem: string | undefined
  children: ((own: object) => unknown) | ((own: object) => unknown)[]
}) {
  const draw = [children].flat().find(child => typeof child === 'function')!
  const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ')
  const own = {
    name,
    id: name,
    'aria-describedby': described || undefined,
    'aria-invalid': problem ? 'true' : undefined,
  }
  return (
    <div class="field">
      <span>
        <label for={name}>{label}</label>
      </span>
      {draw(own)} <FieldNotes name={name} hint={hint} problem={problem} />
    </div>
  )
}

/** What is wrong, beside its field; nothing that was written is lost. */
function readProblems(error: unknown): Problems {
  if (!(error instanceof ApiError)) return { contract: describeError(error) }
  const findings = error.details.findings as Finding[] | undefined
  if (findings) return { findings }
  const of = (name: string) => error.fields.find(({ field }) => field === name)?.message
  const known = { name: of('name'), source: of('source') }
  const isKnown = Object.values(known).some(text => text !== undefined)
  return Object.fromEntries(
    Object.entries({ ...known, contract: isKnown ? undefined : describeError(error) }).filter(
      ([, text]) => text !== undefined,
    ),
  )
}
