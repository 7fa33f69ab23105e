import type { Table } from 'tidemark/client'
import { useRef, useState } from 'preact/hooks'
import { CopyButton } from '../forms/secret.tsx'
import { useAction } from '../lib/action.ts'
import { api } from '../lib/api.ts'
import { useData } from '../lib/data.ts'
import { formatTime } from '../lib/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { notify } from '../parts/notices.tsx'
import { Loaded } from '../parts/states.tsx'

const texts = {
  badge: 'Badge',
  makeBadge: 'Create a badge',
  label: 'Text on the left',
  withFreshness: 'Fails when the table is stale',
  withDrift: 'Fails while schema changes are not reviewed',
  revoke: 'Revoke',
  revokeOf: (label: string) => `Revoke: ${label}`,
  chart: 'Link to a chart',
  check: 'Check',
  expires: 'Works for',
  makeLink: 'Create a link',
  linkOf: (check: string, until: string) => `${check}, until ${formatTime(until)}`,
} as const

interface Props {
  table: Table
}

const LIFETIMES_DAYS = [1, 7, 30] as const
const DEFAULT_LIFETIME_DAYS = 7

/** What of a table is shown to people without an account: badges, and links to charts that expire. */
export function ShareDialog({ table, close }: Props & { close: () => void }) {
  return (
    <Dialog title="Share" close={close} className="wide">
      <Badges table={table} />
      <Links table={table} />
    </Dialog>
  )
}

/** What a person has filled in. */
const readForm = (form: HTMLFormElement | null) => new FormData(form ?? undefined)

const loadBadges = async (id: string, signal: AbortSignal) =>
  (await api.get('/api/v1/sdk/badges', { query: { asset_id: id, active_only: true, limit: 20 }, signal }))
    .data.badges
type Badge = Awaited<ReturnType<typeof loadBadges>>[number]

function Badges({ table }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const badges = useData(`badges ${table.id}`, signal => loadBadges(table.id, signal))
  const [isBusy, create] = useAction(texts.makeBadge, async () => {
    const given = readForm(form.current)
    await api.post('/api/v1/sdk/badges', {
      body: {
        asset_id: table.id,
        label: String(given.get('label')).trim() || null,
        freshness_enabled: given.has('freshness'),
        schema_drift_enabled: given.has('drift'),
      },
    })
    badges.reload()
  })
  return (
    <section>
      <h3>{texts.badge}</h3>
      <p class="quiet">
        A small picture that says whether the checks of this table pass. Everyone who knows its address sees
        it.
      </p>
      <Loaded of={badges} what={texts.badge.toLowerCase()} rows={2}>
        {(found: readonly Badge[]) =>
          found.map(badge => <BadgeRow key={badge.id} badge={badge} reload={badges.reload} />)
        }
      </Loaded>
      <form
        ref={form}
        class="share"
        onSubmit={(event: Event) => {
          event.preventDefault()
          create()
        }}
      >
        <label>
          {texts.label} <input name="label" maxlength={60} defaultValue={table.name} />
        </label>
        <label>
          <input type="checkbox" name="freshness" /> {texts.withFreshness}
        </label>
        <label>
          <input type="checkbox" name="drift" /> {texts.withDrift}
        </label>
        <button disabled={isBusy}>{texts.makeBadge}</button>
      </form>
    </section>
  )
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function BadgeRow({ badge, reload }: { badge: Badge; reload: () => void }) {
  const label = badge.label ?? texts.badge
  const path = { id: badge.id }
  const [isBusy, revoke] = useAction(texts.revoke, async () => {
    await api.delete('/api/v1/sdk/badges/{id}', { path })
    notify('The badge was revoked: pages that show it get a grey picture.')
    reload()
  })
  const alt = label.replaceAll(/[&<>"]/g, character => ESCAPES[character]!)
  // The address on this host, whatever address the service gives to others.
  const picture = new URL(badge.badge_url).pathname
  return (
    <div class="shared">
      <img src={picture} alt={`${label}: ${badge.status}`} />
      <code>{badge.markdown}</code>
      <p class="actions">
        <CopyButton text={badge.markdown} label="Copy Markdown" />
        <CopyButton text={`<img src="${badge.badge_url}" alt="${alt}">`} label="Copy HTML" />
        <button class="small" aria-label={texts.revokeOf(label)} disabled={isBusy} onClick={revoke}>
          {texts.revoke}
        </button>
      </p>
    </div>
  )
}

const loadLinks = async (id: string, signal: AbortSignal) => {
  const [checks, links] = await Promise.all([
    api.get('/api/v1/sdk/checks/{asset_id}', {
      path: { asset_id: id },
      query: { points: 1, limit: 100 },
      signal,
    }),
    api.get('/api/v1/sdk/chart-links', { query: { asset_id: id, limit: 50 }, signal }),
  ])
  // A check without points has no chart yet, or one for each group.
  return { checks: checks.data.items.filter(({ points }) => points.length > 0), links: links.data.links }
}
type Shared = Awaited<ReturnType<typeof loadLinks>>

function Links({ table }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const [url, setUrl] = useState<string>()
  const shared = useData(`links ${table.id}`, signal => loadLinks(table.id, signal))
  const [isBusy, create] = useAction(texts.makeLink, async () => {
    const given = readForm(form.current)
    const { data } = await api.post('/api/v1/sdk/chart-links', {
      body: {
        asset_id: table.id,
        check_id: String(given.get('check')),
        expires_in_days: Number(given.get('expires')),
      },
    })
    setUrl(data.url)
    shared.reload()
  })
  return (
    <section>
      <h3>{texts.chart}</h3>
      <p class="quiet">
        Everyone who has the link sees the chart of one check, without signing in, until the link expires.
      </p>
      <Loaded of={shared} what={texts.chart.toLowerCase()} rows={2}>
        {({ checks, links }: Shared) => (
          <>
            {links.map(link => (
              <LinkRow key={link.id} link={link} checks={checks} reload={shared.reload} />
            ))}
            {url && (
              <p class="shared">
                <code>{url}</code> <CopyButton text={url} label="Copy the link" />{' '}
                <span class="quiet">Copy the link now: it is not shown again.</span>
              </p>
            )}
            {checks.length === 0 ? (
              <p>This table has no check with a chart.</p>
            ) : (
              <form
                ref={form}
                class="share"
                onSubmit={(event: Event) => {
                  event.preventDefault()
                  create()
                }}
              >
                <label>
                  {texts.check}{' '}
                  <select name="check">
                    {checks.map(({ id, title }) => (
                      <option key={id} value={id}>
                        {title}
                      </option>
                    ))}
                  </select>
                </label>
                <label>
                  {texts.expires}{' '}
                  <select name="expires">
                    {LIFETIMES_DAYS.map(days => (
                      <option key={days} value={days} selected={days === DEFAULT_LIFETIME_DAYS}>
                        {days === 1 ? '1 day' : `${days} days`}
                      </option>
                    ))}
                  </select>
                </label>
                <button disabled={isBusy}>{texts.makeLink}</button>
              </form>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

function LinkRow({
  link,
  checks,
  reload,
}: {
  link: Shared['links'][number]
  checks: Shared['checks']
  reload: () => void
}) {
  const name = checks.find(({ id }) => id === link.check_id)?.title ?? link.check_id
  const [isBusy, revoke] = useAction(texts.revoke, async () => {
    await api.delete('/api/v1/sdk/chart-links/{id}', { path: { id: link.id } })
    notify('The link was revoked.')
    reload()
  })
  return (
    <p class="shared">
      <bdi>{texts.linkOf(name, link.expires_at)}</bdi>{' '}
      <button class="small" aria-label={texts.revokeOf(name)} disabled={isBusy} onClick={revoke}>
        {texts.revoke}
      </button>
    </p>
  )
}
