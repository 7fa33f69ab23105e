import type { FieldSpec } from '../../forms/schema.ts'
import { sourceTexts } from './texts.ts'

/** Where the settings of a connection stand in the request. */
export const PLACE = 'connection_config.'

/** By engine, how addresses of its databases begin, without `jdbc:` and the name of a driver. */
export const SCHEMES: Record<string, readonly string[]> = {
  postgresql: ['postgresql', 'postgres'],
  redshift: ['redshift', 'postgresql', 'postgres'],
  mysql: ['mysql', 'mariadb'],
}

/** Whether the fields of an engine can be read from an address. */
export const takesUrl = (type: string) => Object.hasOwn(SCHEMES, type)

/**
 * The values of the fields that a connection URL has, by their names.
 * @returns why it cannot be read, as a text
 */
export function readUrl(
  type: string,
  text: string,
  specs: readonly FieldSpec[],
): Record<string, string> | string {
  const [, scheme = '', rest = ''] = /^\s*(?:jdbc:)?([a-z\d]+)(?:\+\w+)?:\/\/(\S+)\s*$/i.exec(text) ?? []
  if (!scheme) return sourceTexts.notUrl
  if (!SCHEMES[type]?.includes(scheme.toLowerCase())) return sourceTexts.otherEngine(scheme)
  let url: URL
  const decoded: Record<string, string> = {}
  try {
    url = new URL(`${scheme}://${rest}`)
    const { hostname, port, pathname, username, password } = url
    // An address of version 6 has brackets in a URL only.
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const parts = { host, port, database: pathname.slice(1), username, password }
    for (const [name, part] of Object.entries(parts)) decoded[name] = decodeURIComponent(part)
  } catch {
    return sourceTexts.notUrl
  }
  // Addresses of JDBC have the user behind the question mark.
  const { user: username, ...options } = Object.fromEntries(url.searchParams)
  const given: Record<string, string | undefined> = { ...options, ...(username && { username }) }
  for (const [name, value] of Object.entries(decoded)) if (value) given[name] = value
  const found = specs.flatMap(({ name, kind, choices }) => {
    const value = name.startsWith(PLACE) ? given[name.slice(PLACE.length)] : undefined
    const isKnown = kind !== 'choice' || choices?.some(([choice]) => choice === value)
    return value && isKnown && kind !== 'flag' ? [[name, value] as const] : []
  })
  return Object.fromEntries(found)
}
