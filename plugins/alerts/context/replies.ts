import Joi from 'joi'
import { held, record } from '../../../server/http/envelopes.ts'
import { SEVERITIES } from '../api.ts'
import { INCIDENT_STATUSES } from '../incidents/models.ts'

const { id, text, time, count, integer, number, flag } = held
const list = (item: Joi.Schema) => Joi.array().items(item).example([])

const owners = list(record({ name: text, email: text.allow(null) }).label('NamedOwner'))

const reached = list(
  record({
    ...{ id, name: text, qualified_name: text, asset_type: text },
    ...{ url: text.allow(null), steps: integer },
  }).label('ReachedAsset'),
)

/** What the reply of one alert has beside the fields of lists. @param activity an entry of its timeline */
export function contextFields(activity: Joi.Schema) {
  return {
    last_pass: record({
      at: time.allow(null).description('Null where no result that is kept passed.'),
      value: number.allow(null),
    })
      .allow(null)
      .description('The last result of its check that passed before it; null where no check raised it.')
      .example({ at: '2026-03-14T06:00:00.000Z', value: 512 }),
    incident: record({
      ...{ id, title: text, status: Joi.valid(...INCIDENT_STATUSES) },
      is_cause: flag.description('Whether the alert is named as the cause.'),
    })
      .label('AlertIncident')
      .allow(null)
      .example({
        id: '0197f5e2-9a00-7b4e-8c11-5d3e7f2a1b90',
        title: 'orders: 3 h old, expected every 1 h',
        status: 'open',
        is_cause: true,
      }),
    upstream: record({
      table_count: count.description('All tables from which its table is made.'),
      unwatched_count: count.description('Those without an active check.'),
      failing_count: count.description('Those with an open alert.'),
      failing: list(
        record({
          ...{ alert_id: id, title: text, severity: Joi.valid(...SEVERITIES) },
          ...{ asset_id: id, qualified_name: text, steps: integer },
        }).label('UpstreamAlert'),
      ).description('The worst open alert of each, of the nearest five.'),
    })
      .allow(null)
      .description('Null of an alert that is about no table.')
      .example({ table_count: 6, unwatched_count: 2, failing_count: 0, failing: [] }),
    downstream: record({
      table_count: count.description('All tables that are made from it.'),
      tables: reached.description('The nearest five.'),
      ...{ dashboard_count: count, dashboards: reached, owners },
      is_complete: flag.description('False where there is more than was followed.'),
    })
      .allow(null)
      .description('From its column, where it is about one.')
      .example(null),
    owners: owners.description('Those of its table.'),
    activities: list(activity).description('The newest 50 entries of its timeline.'),
  }
}
