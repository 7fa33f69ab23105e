import type { TableWindow } from '../../server/http/check-schemas.ts'
import type { Drift, FieldChange, Step, UnwantedCheck } from '../checks/api.ts'
import { countSteps, type PlannedMonitors } from './apply.ts'
import type { WantedFileCheck } from './wanted.ts'

/** A check that is created, changed, replaced, adopted or removed, as replies show it. */
export interface PresentedChange {
  action: 'create' | 'change' | 'replace' | 'adopt' | 'delete'
  kind: string
  key: string
  table_path: string
  check_id: string | null
  file: string
  line: number | null
  fields: FieldChange[]
}

/** A check that was changed on the server since its file was applied. */
export interface PresentedDrift {
  kind: string
  key: string
  file: string
  check_id: string
  is_removed: boolean
  fields: FieldChange[]
}

/** A managed check that no file has. */
export interface PresentedLeft {
  kind: string
  key: string
  file: string
  table_path: string
  check_id: string
}

export interface PresentedPlan {
  asset_id: string
  source: string
  create: number
  change: number
  replace: number
  delete: number
  adopt: number
  unchanged: number
  changes: PresentedChange[]
  drift: PresentedDrift[]
  left: PresentedLeft[]
  default_windows: PresentedWindow[]
}

/** A default window of a table that differs from that of its file. */
export interface PresentedWindow {
  table_path: string
  file: string
  old: TableWindow | null
  new: TableWindow | null
}

/** A plan as replies show it. */
export function presentPlan({ source, plan, windows }: PlannedMonitors): PresentedPlan {
  return {
    asset_id: source.id,
    source: source.name,
    create: countSteps(plan, 'create'),
    change: countSteps(plan, 'change'),
    replace: countSteps(plan, 'replace'),
    delete: plan.removed.length,
    adopt: countSteps(plan, 'adopt'),
    unchanged: countSteps(plan, 'keep'),
    changes: [
      ...plan.steps.flatMap(presentStep),
      ...plan.removed.map(check => ({
        action: 'delete' as const,
        ...presentLeft(check),
        line: null,
        fields: [],
      })),
    ],
    drift: plan.drift.map(presentDrift),
    left: plan.left.map(presentLeft),
    default_windows: windows.map(({ tablePath, file, old, new: wanted }) => ({
      table_path: tablePath,
      file: file.name,
      old,
      new: wanted,
    })),
  }
}

function presentStep({ action, wanted, stored, changes }: Step<WantedFileCheck>): PresentedChange[] {
  if (action === 'keep' || action === 'refuse') return []
  const given = Object.entries(wanted.body).map(([field, value]) => ({ field, old: null, new: value }))
  return [
    {
      action,
      kind: wanted.kind,
      key: wanted.key,
      table_path: stored?.tablePath ?? wanted.tablePath,
      check_id: stored?.id ?? null,
      file: wanted.file.name,
      line: wanted.file.positionOf(wanted.at)?.line ?? null,
      fields: action === 'create' ? given : changes,
    },
  ]
}

function presentDrift({ managed, stored, changes }: Drift): PresentedDrift {
  const { kind, key, file, checkId } = managed
  return { kind, key, file, check_id: checkId, is_removed: stored === undefined, fields: changes }
}

function presentLeft({ managed, stored }: UnwantedCheck): PresentedLeft {
  const { kind, key, file, checkId } = managed
  return { kind, key, file, table_path: stored.tablePath, check_id: checkId }
}
