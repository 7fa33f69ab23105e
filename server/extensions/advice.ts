import { readFileSync } from 'node:fs'
import { nearest } from '../http/nearest.ts'

/** Where something was thrown. */
export interface ThrowSite {
  path: string
  line: number
}

/** What is known to go wrong, by a part of the message, and what to do about it. */
const ADVICE: readonly [RegExp, string][] = [
  [
    /^Plugin .* already registered/,
    'list the extension once in EXTENSIONS, or give its plugin a name that no other has',
  ],
  [
    /^Plugin .* requires (hapi|node) version/,
    'change requirements of the plugin, or leave them out: peerDependencies.tidemark says what it needs',
  ],
  [
    /^Stripping types is currently unsupported for files under node_modules/,
    'publish what npm run build makes of it',
  ],
  [
    /not supported in strip-only mode/,
    'Node only leaves out types, so set erasableSyntaxOnly in tsconfig.json',
  ],
  [
    /Cannot mix different versions of joi/,
    'leave joi and tidemark out of the bundle; the server answers for them',
  ],
  [
    /Package subpath .* is not defined by "exports" in .*package\.json/,
    'there are tidemark/connector, tidemark/check, tidemark/destination, and /conformance of each, and tidemark/check-kind',
  ],
]

/** What to do about what an extension threw; undefined where that is not known. */
export async function adviceOn(message: string, place: ThrowSite | null): Promise<string | undefined> {
  return (
    adviceOnRegistry(message, place) ??
    (await adviceOnExport(message)) ??
    ADVICE.find(([pattern]) => pattern.test(message))?.[1]
  )
}

const REGISTRIES = ['connectors', 'checks', 'destinations']

/** The name of the registry is not in the message, and stands in the line. */
function adviceOnRegistry(message: string, place: ThrowSite | null): string | undefined {
  if (!/^Cannot read properties of undefined \(reading 'add'\)/.test(message)) return undefined
  const [, name = ''] = /([\w$]+)\.add\b/.exec(place === null ? '' : lineOf(place)) ?? []
  const meant = nearest(name, REGISTRIES)[0]
  if (meant !== undefined) return `there is no ${name}; did you mean server.${meant}?`
  return 'the name before .add is misspelt; the server has connectors, checks and destinations'
}

function lineOf({ path, line }: ThrowSite): string {
  try {
    return readFileSync(path, 'utf8').split('\n')[line - 1] ?? ''
  } catch {
    return ''
  }
}

/** A name that a module of ours does not export: misspelt, renamed, or the name of a type. */
async function adviceOnExport(message: string): Promise<string | undefined> {
  const [, from = '', name = ''] =
    /module '(tidemark\/[\w/-]+)' does not provide an export named '([^']+)'/.exec(message) ?? []
  if (name === '') return undefined
  const exported = Object.keys((await import(from)) as object)
  const meant = nearest(name, exported)[0]
  return meant === undefined
    ? 'the changelog lists what was renamed; a type is imported with import type'
    : `did you mean ${meant}?`
}
