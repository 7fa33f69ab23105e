import type { ComponentType } from 'preact'
import { canAdminister } from '../lib/session.ts'
import { useSession, useTitle } from '../parts/frame.tsx'
import { Help } from '../parts/help.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Empty } from '../parts/states.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { texts } from '../texts.ts'
import type { ScreenProps } from './props.ts'

interface Part {
  name: string
  part: ComponentType
  /** The page of the documentation. */
  help: string
  isForAdmins?: true
}

/** The parts of the settings, by what follows `/settings/` in the address. */
const PARTS: Record<string, Part> = {
  '': {
    name: 'Your account',
    part: lazy(async () => (await import('./settings/own-user.tsx')).OwnUser),
    help: 'preferences',
  },
  teams: {
    name: texts.teams,
    part: lazy(async () => (await import('./settings/teams.tsx')).Teams),
    help: 'owners',
  },
  people: {
    name: texts.people,
    part: lazy(async () => (await import('./settings/people.tsx')).People),
    help: 'access#users-and-roles',
    isForAdmins: true,
  },
  keys: {
    name: texts.apiKeys,
    part: lazy(async () => (await import('./settings/keys.tsx')).Keys),
    help: 'access#api-keys',
    isForAdmins: true,
  },
  audit: {
    name: texts.auditLog,
    part: lazy(async () => (await import('./settings/audit.tsx')).AuditLog),
    help: 'access#the-log',
    isForAdmins: true,
  },
  operations: {
    name: texts.operations,
    part: lazy(async () => (await import('./settings/operations.tsx')).Operations),
    help: 'operations#jobs-of-a-company',
    isForAdmins: true,
  },
}

/** Your own user, and for admins who may do what in the company. */
export function Settings({ name }: ScreenProps) {
  const { user } = useSession()
  const current = Object.hasOwn(PARTS, name) ? name : ''
  const { name: title, part: Part, help, isForAdmins } = PARTS[current]!
  useTitle(title)
  if (!user)
    return (
      <div class="page">
        <Empty title="The demo has no preferences. Sign in to change the theme." isScreen={true} />
      </div>
    )
  const isAdmin = canAdminister()
  const shown = Object.entries(PARTS).filter(([, each]) => isAdmin || !each.isForAdmins)
  return (
    <div class="page">
      <h1>
        {title}
        <Help page={help} about={title} />
      </h1>
      {shown.length > 1 && (
        <Tabs
          label="Parts of the settings"
          current={current}
          tabs={shown.map(([id, each]) => ({
            id,
            name: each.name,
            href: id ? `/settings/${id}` : '/settings',
          }))}
        />
      )}
      {isForAdmins && !isAdmin ? (
        <Empty title="Only admins and owners see this">
          <p>Ask an admin of your company for what you need.</p>
        </Empty>
      ) : (
        <Part key={current} />
      )}
    </div>
  )
}
