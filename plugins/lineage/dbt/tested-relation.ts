/** Which relation a test of dbt is about: its alerts go to the owners of that table, and join its incidents. */
import type { DbtManifest, DbtNode } from './artifacts.ts'
import type { DbtProject } from './project.ts'

/** What the argument `model` of a generic test names. */
type Reference =
  | { kind: 'ref'; packageName: string | undefined; name: string; version: string | undefined }
  | { kind: 'source'; source: string; table: string }

/**
 * @returns the id of the relation that a test declares itself on; null if that has no table, such as an ephemeral model. A
 *   test that names none, such as a query of its own, is about the first relation that it reads.
 */
export function findTested(node: DbtNode, manifest: DbtManifest, { relations }: DbtProject): string | null {
  const read = node.depends_on?.nodes ?? []
  const ifRelation = (id: string | undefined) => (id !== undefined && relations.has(id) ? id : null)
  if (node.attached_node !== undefined) return ifRelation(node.attached_node)
  const reference = parseReference(node.test_metadata?.kwargs?.model ?? '')
  if (!reference) return ifRelation(read.find(id => relations.has(id)))
  const named = read.filter(id => isNamed(reference, id, manifest))
  if (named.length <= 1) return ifRelation(named[0])
  // dbt looks into the package of the test first.
  const own = named.filter(id => id.split('.')[1] === node.package_name)
  return own.length === 1 ? ifRelation(own[0]) : null
}

/** `ref('orders')`, `ref('shop', 'orders', v=2)`, `source('raw', 'orders')`, within other text. */
function parseReference(text: string): Reference | undefined {
  const [, call, given = ''] = /\b(ref|source)\(([^()]*)\)/.exec(text) ?? []
  const keyword = /\b(?:v|version)\s*=\s*['"]?([^'",\s]+)['"]?/
  const names = [...given.replace(keyword, '').matchAll(/(['"])(.+?)\1/g)].map(([, , name]) => name)
  const [last, first] = names.toReversed()
  if (last === undefined) return undefined
  if (call === 'source')
    return first === undefined ? undefined : { kind: 'source', source: first, table: last }
  return { kind: 'ref', packageName: first, name: last, version: keyword.exec(given)?.[1] }
}

function isNamed(reference: Reference, id: string, { nodes }: DbtManifest): boolean {
  const [type, packageName, ...rest] = id.split('.')
  const name = rest.join('.')
  if (reference.kind === 'source')
    return type === 'source' && name === `${reference.source}.${reference.table}`
  if (type === 'source' || (reference.packageName ?? packageName) !== packageName) return false
  if (name === reference.name) return true
  const [, unversioned, ownVersion] = /^(.+)\.v([^.]+)$/.exec(name) ?? []
  // Without a version, the latest one of the model is meant.
  const version = reference.version ?? nodes[id]?.latest_version ?? ownVersion
  return unversioned === reference.name && ownVersion === version
}
