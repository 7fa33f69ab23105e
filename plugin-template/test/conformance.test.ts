import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createTestDatabase, testBuiltIns } from 'tidemark/check/conformance'
import type { Connector } from 'tidemark/connector'
import { testConnector } from 'tidemark/connector/conformance'
import { sqlite } from '../connector.ts'
import { endless, folder, makeDatabase, options, running } from './databases.ts'

// An engine that is asked over a network, or opens files, takes longer than the 30 seconds that tap gives a file.
t.setTimeout(600_000)

t.test('it conforms', async t => {
  const { path, database } = makeDatabase('conformance.db')
  const broken = join(folder, 'notes.txt')
  writeFileSync(broken, 'This is a text and no database, however long one makes it. '.repeat(100))
  const result = await testConnector(t, {
    connector: sqlite,
    config: { path },
    setup: () => ({
      // A reference stays in its own database file, and SQLite wants no schema there.
      execute: async text => database.exec(text.replace('references "main".', 'references ')),
      catalog: 'main',
      schema: 'main',
      refused: [
        { name: 'a missing file', config: { path: join(folder, 'none.db') }, kind: 'missing-object' },
        { name: 'a folder', config: { path: folder }, kind: 'missing-object' },
        { name: 'a file that is no database', config: { path: broken }, kind: 'other' },
      ],
      slow: endless,
      countRunning: () => Promise.resolve(running()),
      // SQLite has none of these: columns declared so hold floats, 0 and 1, and texts.
      types: { decimal: null, boolean: null, binary: 'blob', timestamp: null, timestamptz: null, json: null },
      // Table names are the same whatever their case.
      refusesNames: ['case twin'],
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
})

t.test('the built-in rules and metrics count here as they do on every engine', async t => {
  const { path, database } = makeDatabase('built-ins.db')
  const connection = await sqlite.connect({ path }, options)
  t.teardown(() => connection.close())
  const skipped = await testBuiltIns(t, {
    database: createTestDatabase({
      connector: sqlite as Connector,
      connection,
      execute: async text => database.exec(text),
      tableRef: name => ({ catalog: 'main', schema: 'main', name }),
      columnTypes: { binary: 'blob' },
      keyDeclaration: 'integer primary key',
      // Traits that only some engines have, and SQLite's known deviations.
      traits: {
        NaN: { unsupported: 'SQLite keeps NaN as NULL' },
        infinity: true,
        exact: true,
        zoned: 'timestamp with time zone',
        microseconds: true,
        padded: { unsupported: 'SQLite pads no text' },
        'case-insensitive': 'text collate nocase',
      },
      deviations: ['decimals are doubles', 'moments are texts', 'percentiles are finite'],
      // A number too large for a double is an infinity.
      literal: value => ({ Infinity: '9e999', '-Infinity': '-9e999' })[String(value)],
    }),
  })
  const reasons = new Set(skipped.map(({ reason }) => reason))
  t.same([...reasons].sort(), ['SQLite keeps NaN as NULL', 'SQLite pads no text'])
})
