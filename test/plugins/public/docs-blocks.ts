/** Reading the code blocks of the documentation, and running those of a shell. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pageFile } from '../../../plugins/public/doc-pages.ts'

/** A block of code of a page. */
export interface Block {
  /** `getting-started:12`, to find it by. */
  place: string
  language: string
  /** What stands behind the language: `reply` of what the block before it is answered with. */
  note: string
  text: string
}

/** A request of a block, as it was answered. */
export interface Answered {
  status: number
  body: string
}

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** The text of a page. */
export function pageText(name: string): string {
  return readFileSync(pageFile(`${name}.md`), 'utf8')
}

/** The code blocks of a page, in its order. */
export function blocksOf(name: string): Block[] {
  const text = pageText(name)
  return [...text.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: language = '', 2: note = '', 3: code = '' }) => ({
      place: `${name}:${text.slice(0, index).split('\n').length}`,
      language,
      note,
      text: code,
    }),
  )
}

/** The variables that a block takes from its reader; `${…}` of its own text are not meant. */
export function variablesOf({ text }: Block): string[] {
  return [...new Set([...text.matchAll(/\$([A-Z]+)\b/g)].map(([, name = '']) => name))]
}

// Replies go to files, and from there to where the block wants them; npm's script is the program of this checkout.
const PROLOGUE = `
set -u
curl() {
  local reply; reply="$REPLIES/$(ls "$REPLIES" | wc -l)"
  command curl --max-time 60 "$@" --output "$reply" --write-out '\\n%{http_code}' > "$reply.status" || echo "curl ended with $?" >&2
  cat "$reply"
}
npm() { shift 4; "$NODE" "$ROOT/server/main.ts" "$@"; }
`

/**
 * Runs a block of a shell.
 * @param folder where it runs
 * @param variables what the reader has set; lines of the block that set one with an ellipsis are left out
 * @returns what its requests were answered, in turn, and the exit code of its last line
 */
export async function runBlock(
  text: string,
  variables: Record<string, string>,
  folder: string,
): Promise<{ answers: Answered[]; code: number; err: string }> {
  const replies = mkdtempSync(join(tmpdir(), 'tidemark-docs-'))
  const lines = text.replaceAll(/^(BASE|[A-Z]+=\S*…)\S*$/gm, '')
  const { NODE_OPTIONS: _options, ...inherited } = process.env
  try {
    const ended = await run('bash', ['-c', `${PROLOGUE}\n${lines}`], {
      cwd: folder,
      timeout: 120_000,
      env: { ...inherited, ...variables, REPLIES: replies, ROOT: root, NODE: process.execPath },
    }).then(
      ({ stderr }) => ({ code: 0, err: stderr }),
      (error: { code?: number; stderr?: string }) => ({ code: error.code ?? -1, err: error.stderr ?? '' }),
    )
    const names = readdirSync(replies).filter(name => !name.endsWith('.status'))
    const answers = names
      .sort((a, b) => Number(a) - Number(b))
      .map(name => ({
        status: Number(readFileSync(join(replies, `${name}.status`), 'utf8').trim()),
        body: readFileSync(join(replies, name), 'utf8'),
      }))
    return { answers, ...ended }
  } finally {
    rmSync(replies, { recursive: true })
  }
}

/**
 * Where a reply has not the shape that a page shows: each field that is shown is there with a value of its kind. An
 * ellipsis stands for any text, null for anything, and of a list the first item is compared.
 */
export function differences(shown: unknown, given: unknown, path = ''): string[] {
  if (shown === null) return []
  if (Array.isArray(shown)) {
    if (!Array.isArray(given)) return [`${path || 'it'} is no list`]
    return shown.length === 0 || given.length === 0 ? [] : differences(shown[0], given[0], `${path}[0]`)
  }
  if (typeof shown !== 'object') {
    const isSame = typeof shown === typeof given || given === null
    return isSame ? [] : [`${path || 'it'} is ${typeof given} and not ${typeof shown}`]
  }
  if (typeof given !== 'object' || given === null) return [`${path || 'it'} is no object`]
  return Object.entries(shown).flatMap(([name, value]) =>
    Object.hasOwn(given, name)
      ? differences(value, (given as Record<string, unknown>)[name], path ? `${path}.${name}` : name)
      : [`${path ? `${path}.` : ''}${name} is not there`],
  )
}
