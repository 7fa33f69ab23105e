/** What the page of an incident makes of the reply: its timeline, its facts, and the boxes of its strip. */
import t from 'tap'
import { listEntries } from '../../../plugins/console/client/screens/incidents/entries.ts'
import { ownersOf } from '../../../plugins/console/client/screens/incidents/owners.ts'
import { chooseNodes } from '../../../plugins/console/client/screens/incidents/strip-nodes.ts'
import { shortTitle } from '../../../plugins/console/client/screens/timeline/short-title.ts'
import type { LineageReply } from '../../../plugins/console/client/screens/lineage/graph.ts'

type Input = Parameters<typeof listEntries>[0]

const at = (minute: number) => new Date(Date.UTC(2026, 1, 3, 4, minute)).toISOString()

function activity(minute: number, type: string, metadata: object = {}, actor = 'system') {
  return {
    ...{ id: `${type} ${minute}`, activity_type: type, metadata, created_at: at(minute) },
    ...{ actor_type: actor, actor_name: actor === 'system' ? null : 'Ann', actor },
  } as Input['activities'][number]
}

function message(minute: number, name: string, type = 'alert.triggered') {
  return {
    ...{ id: `message to ${name}`, event_type: type, created_at: at(minute), status: 'delivered' },
    ...{ destination_id: name, destination_name: name },
  } as Input['messages'][number]
}

const show = (input: Input) =>
  listEntries(input).map(({ activity_type: type, alertCount, messages }) =>
    [type, alertCount || '', ...messages.map(({ destination_name: name }) => name)].filter(Boolean).join(' '),
  )

t.test('alerts that came together are one entry, and later ones another; the newest is first', async t => {
  const joined = (minute: number) =>
    activity(minute, 'alerts_joined', { alert_count: 2, alerts: [{ id: `${minute}`, title: 'x' }] })
  const activities = [
    activity(0, 'opened', { alert_count: 1 }),
    joined(1),
    activity(1, 'cause_changed', { from: 'a', to: 'b' }),
    activity(2, 'severity_raised', { from: 'info', to: 'warning' }),
    joined(8),
    activity(9, 'comment', { comment: 'Looking' }, 'user'),
    joined(40),
    activity(70, 'cause_changed', { from: 'b', to: 'c' }),
  ]
  t.strictSame(show({ activities, messages: [] }), [
    'cause_changed',
    'alerts_joined 2',
    'comment',
    'opened 5',
  ])
  t.equal(listEntries({ activities, messages: [] }).at(-1)?.seconds, 480)
})

t.test('messages of one moment are one entry, and one that a person sent stands with the person', async t => {
  const activities = [
    activity(0, 'opened', { alert_count: 1 }),
    activity(30, 'sent', { destination: 'C', delivery_id: 'message to C' }, 'user'),
  ]
  const messages = [message(1, 'A'), message(2, 'B'), message(30, 'C'), message(90, 'A', 'alert.resolved')]
  t.strictSame(show({ activities, messages }), [
    'alert.resolved A',
    'sent C',
    'alert.triggered A B',
    'opened 1',
  ])
})

/** @param edges such as `raw > orders` */
function lineage(edges: string[], dashboards: string[] = []): LineageReply {
  const pairs = edges.map(edge => edge.split(' > '))
  return {
    nodes: [...new Set(pairs.flat())].map(id => ({ id, name: id, is_external: dashboards.includes(id) })),
    edges: pairs.map(([up, down]) => ({ upstream_id: up, downstream_id: down, edge_type: 'view' })),
  } as unknown as LineageReply
}

t.test(
  'a strip has what the incident hits with the way to it, at most 12 boxes, and counts the others',
  async t => {
    const others = Array.from({ length: 20 }, (_, n) => `raw > near${n}`)
    const reply = lineage(['raw > a', 'a > b', 'b > far', 'b > board', ...others], ['board'])
    const { nodes, hiddenCount } = chooseNodes(reply, 'raw', new Set(['raw', 'far']))
    const ids = nodes.map(({ id }) => id)
    t.equal(ids.length, 12)
    t.equal(hiddenCount, 24 - 11)
    for (const id of ['raw', 'a', 'b', 'far', 'board']) t.ok(ids.includes(id), id)
  },
)

t.test(
  'the owners of the cause are asked, else those of what it hits, with the number of their tables',
  async t => {
    const owns = (id: string, name: string) => ({ asset_id: id, name, email: null })
    const of = (cause: string, isNamed: boolean, ...owners: ReturnType<typeof owns>[]) =>
      ownersOf({ owners, root_cause: { asset_id: cause, is_named: isNamed } } as Parameters<
        typeof ownersOf
      >[0])
    const owners = [owns('raw', 'Loaders'), owns('a', 'Sales'), owns('b', 'Sales')] as const
    t.strictSame(of('raw', true, ...owners), { names: ['Loaders'], hit: 0 })
    t.strictSame(of('other', true, ...owners.slice(1)), { names: ['Sales'], hit: 2 })
    t.strictSame(of('raw', false, ...owners), { names: ['Loaders', 'Sales'], hit: 0 })
    t.strictSame(of('raw', true), { names: [], hit: 0 })
  },
)

t.test('a title drops the table that is named beside it', async t => {
  const short = (title: string) => shortTitle({ title, qualified_name: 'shop.main.orders' })
  t.equal(short('orders: 3 h old'), '3 h old')
  t.equal(short('orders.status: 2 rows'), 'status: 2 rows')
  t.equal(short('orders_late: 2 rows'), 'orders_late: 2 rows')
})
