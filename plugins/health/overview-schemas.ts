import Joi from 'joi'
import { exampleIn, exampleRecord, held, inData, reply } from '../../server/http/envelopes.ts'
import { queryInteger } from '../../server/http/page.ts'
import { TIMEZONE } from '../../server/settings/timezones.ts'
import { DIMENSIONS } from './dimensions.ts'

const { count, number, time, text, id, flag } = held
const SOURCE_ID = '0196f1c2-8e2e-7a10-b3c4-5d6e7f8091a2'

/** Days that an overview covers at most. */
const MAX_DAYS = 90

export const overviewQuery = Joi.object<{ days: number; timezone?: string; asset_id?: string }>({
  days: queryInteger(1, MAX_DAYS)
    .default(30)
    .description('The number of days, including today; defaults to 30.'),
  timezone: TIMEZONE.description(
    'The zone whose midnights separate the days; defaults to the setting TIMEZONE.',
  ),
  asset_id: Joi.string()
    .max(1_000)
    .description(
      'The id or qualified name of a source with all its tables, or of a table; defaults to all sources.',
    ),
})

const percent = number.min(0).max(100).allow(null)

const scoreFields = {
  watched_tables: count.description('Tables whose checks ran within these days.').example(3),
  score: percent
    .description(
      'Percentage of the days of watched tables on which no critical or warning alert about the table was open; null where none was watched.',
    )
    .example(98.5),
  scores: Joi.array()
    .items(percent)
    .description('The same by day, the oldest first; null before a table was watched.')
    .example([100, 97]),
  affected_tables: count.description('Watched tables with such an alert today.').example(1),
}

const byDimension = (value: Joi.Schema, example: unknown) =>
  exampleRecord(
    Object.fromEntries(DIMENSIONS.map(([name, about]) => [name, value.description(about).example(example)])),
  )

/** A list whose example has one item. */
const list = (item: Joi.Schema) =>
  Joi.array()
    .items(item)
    .example([exampleIn(item)])
const minutes = number.min(0).allow(null)
const severity = Joi.valid('info', 'warning', 'critical')
const downstream = count.description('Tables, dashboards and the like that are made from it.').example(4)
const group = exampleRecord({ name: text.example('finance'), ...scoreFields }).label('QualityGroup')

export const overview = reply(
  inData(
    exampleRecord({
      since: time.description('The start of the first day.').example('2026-03-08T00:00:00.000Z'),
      until: time.description('The end of today.').example('2026-03-10T00:00:00.000Z'),
      timezone: text.example('UTC'),
      ...scoreFields,
      trend: list(
        exampleRecord({
          date: Joi.string().description('YYYY-MM-DD, of the zone.').example('2026-03-09'),
          opened: byDimension(count, 1),
        }).label('OverviewDay'),
      ).description('How many alerts were opened on each day, the oldest first.'),
      sources: list(
        exampleRecord({
          id: id.example(SOURCE_ID),
          name: text.example('shop'),
          source_type: text.example('postgresql'),
          table_count: count.example(3),
          is_active: flag.description('Whether it is monitored.').example(true),
          ...scoreFields,
          open: byDimension(
            exampleRecord({
              alerts: count.example(1),
              severity: severity.allow(null).description('The worst of them.').example('critical'),
            }).label('OpenAlertCount'),
            { alerts: 1, severity: 'critical' },
          ).description('Triggered and acknowledged alerts.'),
        }).label('OverviewSource'),
      ).description('Sources by name, at most 100.'),
      teams: list(group).description(
        'Tables by the teams that own them, the lowest score first, at most 12.',
      ),
      tags: list(group).description('Tables by their tags and those of their source, in the same way.'),
      total_incidents: count.description('Open and acknowledged incidents.').example(1),
      incidents: list(
        exampleRecord({
          id: id.example('0197f5e2-9a00-7b4e-8c11-5d3e7f2a1b90'),
          title: text.example('orders: 3 h old, expected every 1 h'),
          severity: severity.example('critical'),
          status: Joi.valid('open', 'acknowledged').example('open'),
          alert_count: count.example(4),
          asset_count: count.description('Tables and sources with an alert.').example(3),
          downstream_count: downstream,
          owners: Joi.array()
            .items(text)
            .description('Who owns the table that it comes from.')
            .example(['Sales data']),
          assignee: text.allow(null).description('Who takes care of it.').example('Ada Lovelace'),
          created_at: time.example('2026-03-09T08:05:00.000Z'),
        }).label('OverviewIncident'),
      ).description('The worst of them, then the newest, at most 6.'),
      minutes_to_detect: minutes
        .description(
          'From when a problem began, where that is known, until its incident was opened: the median.',
        )
        .example(12),
      minutes_to_acknowledge: minutes.description('The median since incidents were opened.').example(25.5),
      minutes_to_resolve: minutes.description('The same.').example(190),
      changes: list(
        exampleRecord({
          id: id.example('0197f5e2-7c1b-7d3e-9a44-3f6f0a5b9c22'),
          qualified_name: text.example('shop.shop.public.orders'),
          table_name: text.example('orders'),
          change_type: text.example('column_removed'),
          object_name: text.example('total'),
          impact: Joi.valid('high', 'medium', 'low').example('high'),
          downstream_count: downstream,
          detected_at: time.example('2026-03-09T08:05:00.000Z'),
        }).label('OverviewChange'),
      ).description('Schema changes to review, those of high impact first, then the newest, at most 5.'),
    }).label('HealthOverview'),
  ),
)
