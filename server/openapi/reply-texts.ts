import { RECORD_NAME } from '../http/envelopes.ts'

/** Names of records that say enough by themselves, or would be read wrongly word by word. */
const TEXTS: Partial<Record<string, string>> = {
  Removal: 'That it was removed',
  FinishedRun: 'The job, which is finished: the request waited for it',
}

/** What stands around a record, as `envelopes.ts` names it. */
const AROUND = /(PageData|ListData|Page|List|Items|Data|Envelope|Response)$/

/** Words that are not written in small letters. */
const ABBREVIATIONS = new Map([['api', 'API']])

/** Records whose names say what became of them. */
const SAYS_STATE = /^(Created|Changed|New|Started|Queued)[A-Z]/

/** What a reply without content of a type says. */
const OF_CONTENT: Partial<Record<string, string>> = {
  'text/html': 'A page in HTML',
  'text/javascript': 'A script',
  'image/svg+xml': 'A picture in SVG',
  'text/plain': 'A text',
}

/**
 * What a reply holds, from the name of its record: `A page of alert rules`, `The alert rule, as stored`.
 * @param label the label of the schema; of others the content type says what it is
 * @returns undefined where neither says it
 */
export function replyText(
  label: string | undefined,
  { method, status, contentType }: { method: string; status: string; contentType?: string },
): string | undefined {
  if (status === '204') return 'Done; the reply has no body'
  if (label === undefined || !RECORD_NAME.test(label)) return OF_CONTENT[contentType ?? '']
  const [around = ''] = AROUND.exec(label) ?? []
  const name = label.slice(0, label.length - around.length)
  const known = TEXTS[name]
  if (known !== undefined) return known
  const words = wordsOf(name)
  if (/^(Page|Items)/.test(around)) return `A page of ${plural(words)}`
  if (around.startsWith('List')) return `The ${plural(words)}`
  const isStored = status === '201' || method === 'patch' || method === 'put'
  return `The ${words}${isStored && !SAYS_STATE.test(name) ? ', as stored' : ''}`
}

function wordsOf(name: string): string {
  const words = name.split(/(?=[A-Z])/).map(word => word.toLowerCase())
  return words.map(word => ABBREVIATIONS.get(word) ?? word).join(' ')
}

function plural(words: string): string {
  return words.endsWith('y') && !/[aeiou]y$/.test(words) ? `${words.slice(0, -1)}ies` : `${words}s`
}
