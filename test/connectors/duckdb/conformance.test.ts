import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { createTestDatabase, testBuiltIns } from '../../../checks/conformance.ts'
import { testConnector } from '../../../connectors/conformance.ts'
import type { Connector } from '../../../connectors/connector.ts'
import { duckdb } from '../../../connectors/duckdb/index.ts'
import { raw } from '../../../connectors/sql.ts'
import { configOf, folder, options, running, write } from './databases.ts'

t.setTimeout(600_000)

const slow = raw('select count(*) from range(1000000000) a, range(1000000000) b where a.range + b.range = 7')
mkdirSync(join(folder, 'nothing'))

t.test('it conforms', async t => {
  const path = join(folder, 'shop.duckdb')
  await write(path)
  const broken = join(folder, 'notes.duckdb')
  writeFileSync(broken, 'This is a text and no database, however long one makes it. '.repeat(100))
  const result = await testConnector(t, {
    connector: duckdb,
    config: { path },
    setup: () => ({
      // DuckDB takes a reference to another table without its catalog only.
      execute: text => write(path, text.replace('references "shop".', 'references ')),
      catalog: 'shop',
      schema: 'main',
      refused: [
        { name: 'a missing file', config: { path: join(folder, 'none.duckdb') }, kind: 'missing-object' },
        { name: 'a file that is no database', config: { path: broken }, kind: 'other' },
      ],
      slow,
      countRunning: () => Promise.resolve(running()),
      types: { varchar: 'varchar', binary: 'blob', double: 'double' },
      literals: { binary: `'\\x00\\xff\\x10'::blob` },
      // Names are the same whatever their case.
      refusesNames: ['case twin'],
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
})

t.test('it conforms on a folder of Parquet files', async t => {
  const lake = join(folder, 'kit')
  const instance = await DuckDBInstance.create(':memory:')
  const writer = await instance.connect()
  const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
  const result = await testConnector(t, {
    connector: duckdb,
    config: { path: lake },
    setup: () => ({
      // A file has its name when it is whole.
      async writeTable({ name, columns, rows, part }) {
        const target = join(lake, name, ...(part === undefined ? [] : [`of=${part}`]))
        mkdirSync(target, { recursive: true })
        const declared = columns.map(column => `${quote(column.name)} ${column.type}`).join(', ')
        await writer.run(`create or replace table written (${declared})`)
        if (rows.length > 0)
          await writer.run(`insert into written values ${rows.map(row => `(${row.join(', ')})`).join(', ')}`)
        await writer.run(`copy written to '${join(lake, '.loading')}' (format parquet)`)
        renameSync(join(lake, '.loading'), join(target, 'rows.parquet'))
      },
      catalog: 'files',
      schema: 'kit',
      tableKind: 'external_table',
      refused: [
        { name: 'a missing folder', config: { path: join(folder, 'none') }, kind: 'missing-object' },
        {
          name: 'a folder without data files',
          config: { path: join(folder, 'nothing') },
          kind: 'missing-object',
        },
      ],
      slow,
      countRunning: () => Promise.resolve(running()),
      types: { varchar: 'varchar', binary: 'blob', double: 'double' },
      literals: { binary: `'\\x00\\xff\\x10'::blob` },
      // No folder is called __proto__ here: what begins with _ is of the program that writes.
      refusesNames: ['case twin', 'prototype'],
    }),
  })
  t.match(result, { conforming: true, skipped: [] })
})

t.test('the built-in rules and metrics count here as they do on every engine', async t => {
  const path = join(folder, 'built-ins.duckdb')
  await write(path)
  const connection = await duckdb.connect(configOf(path), options)
  t.teardown(() => connection.close())
  await testBuiltIns(t, {
    database: createTestDatabase({
      connector: duckdb as unknown as Connector,
      connection,
      execute: text => write(path, text),
      tableRef: name => ({ catalog: 'built-ins', schema: 'main', name }),
      columnTypes: { binary: 'blob', text: 'varchar', decimal: 'decimal(38,4)' },
      traits: {
        NaN: true,
        infinity: true,
        exact: 'decimal(38,20)',
        zoned: 'timestamp with time zone',
        microseconds: true,
        padded: { unsupported: 'DuckDB pads no text' },
        'case-insensitive': { unsupported: 'DuckDB counts distinct values without their collation' },
      },
      literal: value =>
        value instanceof Uint8Array
          ? `from_hex('${Buffer.from(value).toString('hex')}')`
          : typeof value === 'number' && !Number.isFinite(value)
            ? `'${value}'::double`
            : undefined,
    }),
  })
})
