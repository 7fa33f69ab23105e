import type { ListedIncident } from './requests.ts'

/**
 * Whom to ask about an incident: the owners of the table of its cause, or else of the other tables with alerts.
 * @returns their names, and how many other tables they own, if the cause has no owner
 */
export function ownersOf({ owners, root_cause: cause }: Pick<ListedIncident, 'owners' | 'root_cause'>) {
  const own = cause.is_named ? owners.filter(({ asset_id: id }) => id === cause.asset_id) : owners
  const shown = own.length > 0 ? own : owners
  return {
    names: [...new Set(shown.map(({ name }) => name))],
    hit: own.length > 0 ? 0 : new Set(shown.map(({ asset_id: id }) => id)).size,
  }
}
