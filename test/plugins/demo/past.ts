/** What the demo promises of its past: two months of alerts, incidents, messages, updates and discoveries. */
import t from 'tap'
import type { TestServer } from '../../helpers/server.ts'

type Body = Awaited<ReturnType<TestServer['ask']>>['body']

/** @param get the body of a reply of the API */
export function testPast({
  get,
  query,
}: Pick<TestServer, 'query'> & { get(path: string): Promise<Body> }): void {
  t.test('alerts were opened on at least ten of the last thirty days', async t => {
    const { data } = await get('/sdk/alerts/trends?days=30')
    const days = data.by_day.filter(({ opened }: { opened: number }) => opened > 0)
    t.ok(days.length >= 10, `${days.length} days`)
    const [{ early }] = (await query(
      `select count(*)::int as early from alerts where created_at < now() - interval '30 days' and kind <> 'discovery_complete'`,
    )) as [{ early: number }]
    t.ok(early >= 5, 'and others before')
  })

  t.test('past incidents have people who took care of them, and ended before the next began', async t => {
    const { data } = await get('/sdk/incidents?status=resolved&limit=50')
    const { incidents } = data
    t.ok(incidents.length >= 3)
    const handled = incidents.filter(({ assignee }: { assignee: object | null }) => assignee)
    t.ok(handled.length >= 3)
    const { data: last } = await get(`/sdk/incidents/${handled[0].id}`)
    const types = last.activities.map(({ activity_type: type }: { activity_type: string }) => type)
    for (const type of ['opened', 'acknowledged', 'assigned', 'comment', 'resolved'])
      t.ok(types.includes(type), type)
    const times = last.activities.map(({ created_at: at }: { created_at: string }) => at)
    t.strictSame(times, times.toSorted(), 'its timeline is in order')
    t.ok(times[0] >= last.created_at && times.at(-1) <= last.resolved_at)
    const overlapping = await query(
      `select i.number from incidents i join incidents later on later.created_at > i.created_at
        where i.resolved_at > later.created_at and i.merged_into is null`,
    )
    t.strictSame(overlapping, [])
    t.ok((await query(`select from incidents where post_mortem is not null`)).length > 0)
  })

  t.test('nothing of the past happened today', async t => {
    // Those of today that turned out to be one ended by that.
    const past = `select * from incidents where status = 'resolved' and merged_into is null`
    const moved = await query(
      `select i.number from (${past}) i join incident_activities a on a.incident_id = i.id
        where a.created_at >= now() - interval '1 day' or a.created_at < i.created_at
       union
       select i.number from (${past}) i join incident_alerts ia on ia.incident_id = i.id
         join alert_history h on h.alert_id = ia.alert_id where h.at >= now() - interval '1 day'
       union
       select i.number from (${past}) i where (i.cause ->> 'at')::timestamptz >= now() - interval '1 day'`,
    )
    t.strictSame(moved, [])
  })

  t.test('messages about the past were sent then, and say so', async t => {
    const sent = await query(
      `select d.event_type, d.body, a.created_at as opened_at, a.resolved_at, d.created_at, d.completed_at,
              (select max(ended_at) from delivery_attempts where delivery_id = d.id) as ended_at
         from deliveries d join alerts a on a.id = d.alert_id where a.resolved_at is not null`,
    )
    t.ok(sent.some(({ event_type: type }) => type === 'alert.resolved'))
    for (const {
      event_type: type,
      body,
      opened_at,
      resolved_at,
      created_at,
      completed_at,
      ended_at,
    } of sent) {
      const [opened, resolved, created, completed, ended] = [
        ...[opened_at, resolved_at, created_at, completed_at, ended_at],
      ].map(at => (at as Date).getTime()) as [number, number, number, number, number]
      const event = type === 'alert.resolved' ? resolved : opened
      t.ok(Math.abs(created - event) < 60_000 && Math.abs(ended - event) < 600_000, String(type))
      t.ok(Math.abs(completed - event) < 600_000)
      t.notMatch(String(body), new Date().toISOString().slice(0, 10))
    }
  })

  t.test(
    'the views of a day were late, and the schedule that found it has the updates of two months',
    async t => {
      const [found] = await query(
        `select count(*)::int as results, count(*) filter (where r.status = 'fail')::int as late,
              min(r.at) < now() - interval '55 days' as is_long
         from check_results r join checks c on c.id = r.check_id join tables t on t.id = c.table_id
        where c.kind = 'freshness' and t.name = 'page_views'`,
      )
      t.match(found, { late: 1, is_long: true })
      t.ok(Number(found?.results) >= 50)
    },
  )

  t.test('the warehouse has a mute window each week', async t => {
    const { data } = await get('/sdk/alerts/mute-windows')
    t.match(data.mute_windows, [{ is_active: true, timezone: 'Europe/Berlin', starts_at: null }])
  })

  t.test(
    'discoveries of the past found the columns that were added then, and people accepted them',
    async t => {
      const [runs] = await query(
        `select count(*)::int as n, count(distinct created_at::date)::int as days from runs where workflow_name = 'discovery'`,
      )
      t.ok(Number(runs?.days) >= 9)
      const accepted = await query(
        `select object_name from schema_changes
        where is_acknowledged and detected_at < now() - interval '10 days' and acknowledged_at - detected_at < interval '1 day'
        order by 1`,
      )
      t.strictSame(
        accepted.map(({ object_name: name }) => name),
        ['brand', 'delivered_on'],
      )
    },
  )
}
