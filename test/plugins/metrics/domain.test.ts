import t from 'tap'
import { makeStage } from '../../helpers/world.ts'
import { metricWorld, momentOf } from './world.ts'

const EXTENSIONS = new URL('../../helpers/extensions/percent-metrics.ts', import.meta.url).href
const stage = await makeStage(t, { settings: { EXTENSIONS } })

t.test(
  'bands of an extension’s percentage lie within 0 and 100, those of a plain number need not',
  async t => {
    const statements = ['create table sales (note text)']
    const world = await metricWorld(t, stage, statements, {
      metric_type: 'blank_percent',
      column_name: 'note',
    })
    await world.make({ metric_type: 'blank_number', column_name: 'note' })
    for (let day = 0; day < 20; day += 1) {
      await world.source.query('truncate sales')
      const filled = [0, 9, 3, 12, 1, 7, 5][day % 7]
      await world.source.query(
        `insert into sales select case when n <= ${filled} then 'x' else '' end from generate_series(1, 100) n`,
      )
      await world.captureAt(momentOf(day))
    }
    const [bands] = await world.app.query(
      `select max(high) filter (where type = 'blank_percent') as percent,
            max(high) filter (where type = 'blank_number') as number
       from check_results r join checks c on c.id = r.check_id`,
    )
    t.ok(Number(bands?.percent) <= 100 && Number(bands?.percent) > 90, JSON.stringify(bands))
    t.ok(Number(bands?.number) > 100)
  },
)
