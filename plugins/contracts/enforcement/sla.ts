import type { ContractNode } from '../elements.ts'
import type { Demand } from './clause.ts'
import { nodes, textOf } from './document.ts'

/** A service level of a contract, of one table if it names or means one. */
export interface Agreement {
  path: string
  title: string
  table: string | null
  column: string | null
  demand: Demand
}

const FRESHNESS_PROPERTIES = ['freshness', 'latency', 'frequency']

const UNIT_SECONDS: Record<string, number> = {
  s: 1,
  sec: 1,
  second: 1,
  seconds: 1,
  m: 60,
  min: 60,
  minute: 60,
  minutes: 60,
  h: 3_600,
  hr: 3_600,
  hour: 3_600,
  hours: 3_600,
  d: 86_400,
  day: 86_400,
  days: 86_400,
  w: 604_800,
  week: 604_800,
  weeks: 604_800,
}

const MIN_SECONDS = 60
const MAX_SECONDS = 400 * 86_400

/** The service levels of a contract. One that names no element concerns each table. */
export function listAgreements(contract: ContractNode): Agreement[] {
  return nodes(contract.slaProperties).flatMap((agreement, index) => {
    const path = `/slaProperties/${index}`
    const property = textOf(agreement.property) ?? ''
    const terms = [agreement.value, agreement.unit].filter(part => part !== undefined).join(' ')
    if (!FRESHNESS_PROPERTIES.includes(property.toLowerCase())) {
      const reason = `${property} is not measured: freshness, latency and frequency are`
      return { path, title: `${property} is ${terms}`, table: null, column: null, demand: nothing(reason) }
    }
    const demand = demandOf(agreement, property.toLowerCase())
    return elementsOf(contract, agreement).map(({ table, column, error }) => ({
      path,
      title: `${property} of ${[table, column].filter(Boolean).join('.') || 'the data'} is ${terms}`,
      table,
      column,
      demand: error === undefined ? demand : nothing(error),
    }))
  })
}

function nothing(reason: string): Demand {
  return { of: 'nothing', reason }
}

function demandOf({ value, unit }: ContractNode, property: string): Demand {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof count !== 'number' || !Number.isFinite(count) || count <= 0)
    return nothing(`${property} has no positive number as its value`)
  const seconds = Math.round(count * (UNIT_SECONDS[textOf(unit)?.toLowerCase() ?? ''] ?? Number.NaN))
  if (Number.isNaN(seconds)) return nothing(`${property} has no unit such as h, d or minutes`)
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS)
    return nothing(`${property} is measured from 1 minute to 400 days`)
  return { of: 'freshness', property, seconds }
}

interface Element {
  table: string | null
  column: string | null
  error?: string
}

/** The tables and columns that an agreement is about. */
function elementsOf(contract: ContractNode, agreement: ContractNode): Element[] {
  const objects = nodes(contract.schema)
  const named = textOf(agreement.element) ?? textOf(contract.slaDefaultElement)
  if (named === undefined) {
    if (objects.length === 0) return [{ table: null, column: null, error: 'the contract has no table' }]
    return objects.map(object => ({ table: nameOf(object), column: null }))
  }
  return named.split(',').map(part => elementOf(objects, part.trim()))
}

function elementOf(objects: readonly ContractNode[], element: string): Element {
  for (const object of objects) {
    const names = [object.name, object.physicalName].flatMap(name => textOf(name) ?? [])
    if (names.includes(element)) return { table: nameOf(object), column: null }
    const prefix = names.find(name => element.startsWith(`${name}.`))
    const short =
      prefix === undefined ? (objects.length === 1 ? element : undefined) : element.slice(prefix.length + 1)
    const property = nodes(object.properties).find(
      ({ name, physicalName }) => short !== undefined && [name, physicalName].includes(short),
    )
    if (property) return { table: nameOf(object), column: nameOf(property) }
  }
  return { table: null, column: null, error: `the contract has no element ${element}` }
}

function nameOf(node: ContractNode): string {
  return textOf(node.physicalName) ?? textOf(node.name) ?? ''
}
