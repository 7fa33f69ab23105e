/**
 * Holds comparisons of tables across databases to the numbers of reladiff, the maintained fork of data-diff, and prints how
 * long both take and how many rows they read:
 *
 *     COMPARE_ROWS=1000000 node test/run.ts --timeout=1500 test/peers/compare.peer.ts
 *
 * It needs Python 3 and a package index. The product is measured by what compares tables, from its first statement to its
 * numbers; reladiff from its own start of a diff to its last row, which leaves out that Python starts. Both compare all
 * columns by the primary key, over new connections that are open. Nothing of reladiff is sent anywhere.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { comparing, makeCompareWorld, PLANTED } from '../bench/compare-world.ts'
import { pythonWith } from './python.ts'

const rows = Number(process.env.COMPARE_ROWS ?? 100_000)
const PACKAGES = ['reladiff[postgresql,mysql]==0.6.0']

/** Prints how many rows of each side differ, how many it fetched of a side, and the seconds it took, as JSON. */
const SCRIPT = `
import json, sys, time
from reladiff import connect_to_table, diff_tables
left, right, columns = json.loads(sys.argv[1])
tables = [connect_to_table(one["uri"], one["table"], "id", extra_columns=tuple(columns)) for one in (left, right)]
started = time.monotonic()
diff = diff_tables(*tables)
signs = [sign for sign, row in diff]
seconds = time.monotonic() - started
downloaded = diff.stats.get("rows_downloaded", 0)
print(json.dumps({"minus": signs.count("-"), "plus": signs.count("+"), "seconds": seconds, "downloaded": downloaded}))
`

interface PeerResult {
  minus: number
  plus: number
  seconds: number
  /** Rows that one side gave; the other gave as many. */
  downloaded: number
}

void t.test('rows that differ are those that reladiff finds', { timeout: 1_200_000 }, async t => {
  const python = await pythonWith(PACKAGES)
  const world = await makeCompareWorld(t, rows)
  const { cluster, shop } = world
  const postgresql = (database: string) => ({
    uri: `postgresql://reader:reader@${cluster.host}:${cluster.port}/${database}`,
    table: 'orders',
  })
  const others = [
    { name: 'PostgreSQL', copy: world.right, place: postgresql('right_shop') },
    ...(shop && world.mariadb
      ? [
          {
            name: 'MariaDB',
            copy: world.mariadb,
            place: {
              uri: `mysql://${shop.config.username}:${shop.config.password}@${shop.config.host}:${shop.config.port}/${shop.name}`,
              table: 'orders',
            },
          },
        ]
      : []),
  ]
  const columns = ['customer', 'status', 'total', 'placed_at', 'note']
  for (const planted of PLANTED) {
    await world.plant(planted)
    for (const { name, copy, place } of others) {
      const given = JSON.stringify([postgresql('left_shop'), place, columns])
      const { stdout } = await promisify(execFile)(python, ['-c', SCRIPT, given], {
        env: { ...process.env, RELADIFF_TRACKING: '0' },
      })
      const theirs = JSON.parse(stdout.trim().split('\n').at(-1)!) as PeerResult
      const compare = await comparing(world.left, copy)
      const startedAt = performance.now()
      const ours = await compare()
      const seconds = (performance.now() - startedAt) / 1000
      t.equal(ours.onlyLeft + ours.differing, theirs.minus, `${name}, ${planted}: rows of the left`)
      t.equal(ours.onlyRight + ours.differing, theirs.plus, `${name}, ${planted}: rows of the right`)
      t.comment(
        `${name}, ${planted}: ${seconds.toFixed(1)} s and ${ours.rowsFetched} rows fetched; reladiff ${theirs.seconds.toFixed(1)} s, ${theirs.downloaded * 2} rows`,
      )
    }
  }
})
