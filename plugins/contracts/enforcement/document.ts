import { isNode, type ContractNode } from '../elements.ts'

/** The objects of a list in a contract. */
export function nodes(list: unknown): ContractNode[] {
  return Array.isArray(list) ? list.filter(isNode) : []
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** What the database calls an object or a property. */
export function physicalName(node: ContractNode): string {
  return textOf(node.physicalName) ?? textOf(node.name) ?? ''
}

/** The value of a custom property of a contract, an object or a property. */
export function customProperty(node: ContractNode, name: string): unknown {
  return nodes(node.customProperties).find(({ property }) => property === name)?.value
}

const OWNER_ROLES = /\b(owner|steward|product)\b/i

/**
 * Who answers for a contract: the name of its team; of a list of people the owner, else the first who has not left. Null
 * if it names nobody.
 */
export function ownerOf(contract: ContractNode): string | null {
  const { team } = contract
  const named = isNode(team) ? textOf(team.name) : undefined
  const members = nodes(isNode(team) ? team.members : team).filter(({ dateOut }) => !textOf(dateOut))
  const owner = members.find(({ role }) => OWNER_ROLES.test(textOf(role) ?? '')) ?? members[0]
  return (named ?? textOf(owner?.username) ?? textOf(owner?.name) ?? '').slice(0, MAX_OWNER_LENGTH) || null
}

const MAX_OWNER_LENGTH = 200

/** What of a contract lists show. */
export function summaryOf(contract: ContractNode) {
  const text = (value: unknown) => textOf(value)?.slice(0, 300) ?? null
  return {
    apiVersion: String(contract.apiVersion),
    documentId: text(contract.id),
    title: text(contract.name),
    version: text(contract.version),
    owner: ownerOf(contract),
  }
}
