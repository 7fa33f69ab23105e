import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from 'tidemark/client'
import { describeError } from '../parts/states.tsx'
import { formTexts } from './texts.ts'
import { buildBody, findProblem, readValues, type FieldSpec, type FieldValue, type Values } from './schema.ts'

/** A form while a person fills it in. */
export interface FormState {
  values: Values
  /** What is wrong with fields, by their names. */
  problems: Readonly<Record<string, string>>
  /** Why it could not be sent, where that belongs to no field. */
  failure: string
  isBusy: boolean
  isChanged: boolean
  set(name: string, value: FieldValue): void
  /** Looks for what is wrong with a field that a person has left. */
  check(spec: FieldSpec): void
  /** Puts back what the form began with. */
  reset(): void
  /** Uses what is written unless a field is wrong, and keeps the form as it is. @returns whether that went well */
  attempt(
    specs: readonly FieldSpec[],
    work: (body: Record<string, unknown>) => Promise<unknown>,
  ): Promise<boolean>
  /** Sends the form unless a field is wrong. The first wrong field gets the focus. @returns whether it was sent */
  send(
    specs: readonly FieldSpec[],
    work: (body: Record<string, unknown>) => Promise<unknown>,
  ): Promise<boolean>
}

const SECRET_KINDS = new Set<FieldSpec['kind']>(['secret', 'pairs'])

/** What was written into forms that were left without sending, for who comes back. Secrets are not kept. */
const drafts = new Map<string, Values>()

/**
 * The state of a form.
 * @param id names its draft, which is there again when a person leaves the screen and comes back
 * @param record as the API returns it, for a form that changes one: only what was changed is sent
 */
export function useForm(id: string, specs: readonly FieldSpec[], record?: object): FormState {
  const initial = readValues(specs, record)
  const [written, setWritten] = useState<Values>(() => drafts.get(id) ?? {})
  const [problems, setProblems] = useState<Record<string, string>>({})
  const [failure, setFailure] = useState('')
  const [isBusy, setBusy] = useState(false)
  const values = { ...initial, ...written }
  const isSent = useRef(false)
  useEffect(() => {
    if (isSent.current) return
    const secrets = new Set(specs.filter(({ kind }) => SECRET_KINDS.has(kind)).map(({ name }) => name))
    drafts.set(id, Object.fromEntries(Object.entries(written).filter(([name]) => !secrets.has(name))))
  }, [written])
  const reset = () => {
    drafts.delete(id)
    setWritten({})
    setProblems({})
    setFailure('')
  }
  const attempt: FormState['attempt'] = async (sentSpecs, work) => {
    const found = sentSpecs.flatMap(spec => {
      const problem = findProblem(spec, values[spec.name] ?? '')
      return problem ? [[spec.name, problem] as const] : []
    })
    setProblems(Object.fromEntries(found))
    setFailure(found.length > 0 ? formTexts.mendFields(found.length) : '')
    if (found.length > 0) {
      focusField(found[0]![0])
      return false
    }
    try {
      await work(buildBody(sentSpecs, values, record && initial))
      return true
    } catch (error) {
      const { fields, rest } = sortErrors(error, sentSpecs)
      setProblems(fields)
      setFailure(rest || formTexts.mendFields(Object.keys(fields).length))
      const [first] = Object.keys(fields)
      if (first) focusField(first)
      return false
    }
  }
  return {
    values,
    problems,
    failure,
    isBusy,
    isChanged: specs.some(({ name }) => values[name] !== initial[name]),
    set(name, value) {
      isSent.current = false
      setWritten(last => ({ ...last, [name]: value }))
      setProblems(({ [name]: _mended, ...others }) => others)
    },
    check(spec) {
      const problem = findProblem(spec, values[spec.name] ?? '')
      // A field that is only passed through is not wrong yet.
      if (problem && values[spec.name] !== initial[spec.name])
        setProblems(last => ({ ...last, [spec.name]: problem }))
    },
    reset,
    attempt,
    async send(sentSpecs, work) {
      setBusy(true)
      const isDone = await attempt(sentSpecs, work)
      if (isDone) {
        drafts.delete(id)
        isSent.current = true
        setWritten({})
      }
      setBusy(false)
      return isDone
    },
  }
}

/** After the next rendering, since a part of the form may be folded until then. */
function focusField(name: string): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)
    field?.closest('details')?.setAttribute('open', '')
    field?.focus()
  })
}

/** What the server found wrong, by the fields of the form, and the sentences that belong to none of them. */
function sortErrors(error: unknown, specs: readonly FieldSpec[]) {
  const fields: Record<string, string> = {}
  const rest: string[] = []
  for (const { field, message } of fieldErrorsOf(error)) {
    const spec = specs.find(({ name }) => field === name || field.startsWith(`${name}.`))
    if (spec) fields[spec.name] ??= sentence(message)
    else rest.push(sentence(message))
  }
  if (Object.keys(fields).length === 0 && rest.length === 0) rest.push(describeError(error))
  return { fields, rest: rest.join(' ') }
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)

interface Detail {
  loc: string[]
  msg: string
}

/** The wrong fields of a request, of all forms in which the API names them. */
function fieldErrorsOf(error: unknown): { field: string; message: string }[] {
  if (!(error instanceof ApiError)) return []
  const { detail } = (error.body ?? {}) as { detail?: Detail[] }
  if (Array.isArray(detail))
    return detail.map(({ loc, msg }) => ({ field: loc.slice(1).join('.'), message: msg }))
  const { field } = error.details
  // A conflict, or a wrong password, names one field and has its sentence as the message.
  return error.fields.length === 0 && typeof field === 'string'
    ? [{ field, message: error.message }]
    : error.fields
}
