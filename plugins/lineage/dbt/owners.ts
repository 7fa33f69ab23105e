import { storable } from '../../../server/database/storable.ts'
import type { DbtNode } from './artifacts.ts'
import { isRecord } from '../json.ts'

/** A person or team that answers for a node, as its tool names it. */
export interface DeclaredOwner {
  name?: string
  email?: string
}

const MAX_OWNERS = 20
const MAX_OWNER_LENGTH = 320
/** `Ann Lee <ann@example.com>` */
const NAMED_ADDRESS = /^([^<]*)<([^<>]*)>$/
const ADDRESS = /^[^\s@]+@([^\s@]+)$/

/** The owners of a model, seed, snapshot or source: of its `meta`, then of its group. */
export function listOwners(node: DbtNode, groups: Record<string, DbtNode>): DeclaredOwner[] {
  const metas = [node.config?.meta, node.meta].flatMap(meta => meta ?? [])
  const declared = metas.flatMap(meta => [
    ...readOwners(meta.owner),
    ...readOwners(meta.owners),
    ...readOwners({ name: meta.owner_name, email: meta.owner_email }),
  ])
  const groupName = node.group ?? node.config?.group
  const group = Object.values(groups).find(({ name }) => name === groupName)
  return mergeOwners([...declared, ...readOwners(group?.owner)])
}

/** Owners from what people write: a name, an address, an object of both, or a list of these. */
export function readOwners(given: unknown): DeclaredOwner[] {
  if (typeof given === 'string') return given.split(/[,;]/).flatMap(readOwner)
  if (Array.isArray(given)) return mergeOwners(given.slice(0, MAX_OWNERS).flatMap(each => readOwners(each)))
  if (!isRecord(given)) return []
  const { name, email } = given
  // dbt 1.10 allows several addresses.
  const emails = [email].flat().filter(each => typeof each === 'string')
  const owner = typeof name === 'string' ? clip(name) : ''
  const [first = ''] = emails
  if (emails.length <= 1 && (owner || first))
    return [{ ...(owner && { name: owner }), ...(clip(first) && { email: clip(first) }) }]
  return emails.map(each => ({ ...(owner && { name: owner }), email: clip(each) }))
}

function readOwner(text: string): DeclaredOwner[] {
  const given = clip(text)
  const [name = '', email = ''] = (NAMED_ADDRESS.exec(given) ?? []).slice(1).map(part => part.trim())
  if (!/\s/.test(email) && email.slice(1, -1).includes('@')) return [{ ...(name && { name }), email }]
  if (!given) return []
  return [isAddress(given) ? { email: given } : { name: given }]
}

/** Whether a text has the form of an address, with a dot within its host. */
function isAddress(text: string): boolean {
  const [, host = ''] = ADDRESS.exec(text) ?? []
  return host.slice(1, -1).includes('.')
}

const clip = (text: string) => storable(text.trim().slice(0, MAX_OWNER_LENGTH))

/** Each owner once, at most 20. */
export function mergeOwners(owners: readonly DeclaredOwner[]): DeclaredOwner[] {
  const byText = new Map(
    owners.map(owner => [`${owner.name ?? ''}\n${owner.email ?? ''}`.toLowerCase(), owner]),
  )
  return [...byText.values()].slice(0, MAX_OWNERS)
}
