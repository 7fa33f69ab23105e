import type { Test } from 'tap'
import { discover, type World } from '../../../helpers/world.ts'

/** A recorded change as the API presents it. */
export interface Recorded {
  change_type: string
  object_name: string
  impact: string
  old_value: object | null
  new_value: object | null
  acknowledged: boolean
}

/** The changes that the last discovery of a world recorded. */
export async function recorded(world: World): Promise<Recorded[]> {
  const job = await discover(world)
  const { body } = await world.tenant.ask('GET', `/api/v1/assets/${world.asset.id}/schema-changes?limit=1000`)
  const changes = body.data.changes as (Recorded & { discovery_id: string })[]
  return changes.filter(({ discovery_id: id }) => id === job.job_id)
}

/** Whether there are these records and no others, as far as each is given, by the names of their objects. */
export function matchAll(t: Test, found: Recorded[], wanted: object[], what = 'these records'): void {
  t.equal(found.length, wanted.length, what)
  t.match(
    found.toSorted((a, b) => (a.object_name < b.object_name ? -1 : 1)),
    wanted,
    what,
  )
}
