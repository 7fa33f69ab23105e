import type { FieldChange, Drift, Plan, Step } from './plan.ts'
import type { PlannedMonitors } from './apply.ts'

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
}

/** A plan as replies show it. @param prune whether checks that no file has are removed */
export function presentPlan({ source, plan }: PlannedMonitors, prune: boolean): PresentedPlan {
  const count = (action: Step['action']) => plan.steps.filter(step => step.action === action).length
  const left = plan.left.map(presentLeft)
  return {
    asset_id: source.id,
    source: source.name,
    create: count('create'),
    change: count('change'),
    replace: count('replace'),
    delete: prune ? left.length : 0,
    adopt: count('adopt'),
    unchanged: count('keep'),
    changes: [
      ...plan.steps.flatMap(presentStep),
      ...(prune ? left.map(each => ({ action: 'delete' as const, ...each, line: null, fields: [] })) : []),
    ],
    drift: plan.drift.map(presentDrift),
    left: prune ? [] : left,
  }
}

function presentStep({ action, wanted, stored, changes }: Step): PresentedChange[] {
  if (action === 'keep') return []
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

function presentLeft({ managed, stored }: Plan['left'][number]): PresentedLeft {
  const { kind, key, file, checkId } = managed
  return { kind, key, file, table_path: stored.tablePath, check_id: checkId }
}
