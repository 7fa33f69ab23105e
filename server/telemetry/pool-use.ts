import type { Knex } from 'knex'

export interface PoolUse {
  name: string
  max: number
  used: number
  idle: number
  /** Who waits for one. */
  waiting: number
}

interface Counted {
  max: number
  numUsed(): number
  numFree(): number
  numPendingAcquires(): number
}

export function poolUse(name: string, { client }: Knex): PoolUse {
  const { pool } = client as { pool?: Counted }
  return {
    name,
    max: pool?.max ?? 0,
    used: pool?.numUsed() ?? 0,
    idle: pool?.numFree() ?? 0,
    waiting: pool?.numPendingAcquires() ?? 0,
  }
}
