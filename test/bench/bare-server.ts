/**
 * The least that could serve one query over HTTP, in a process of its own: hapi and pg, with the database of
 * DATABASE_URL. It prints its address as soon as it listens. `GET /health` asks whether the database is there, and
 * `GET /rows` answers what BARE_QUERY finds.
 */
import Hapi from '@hapi/hapi'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const server = Hapi.server({ host: '127.0.0.1', port: Number(process.env.PORT ?? 0) })
server.route([
  {
    method: 'GET',
    path: '/health',
    handler: async () => {
      await pool.query('select 1')
      return { status: 'ok' }
    },
  },
  {
    method: 'GET',
    path: '/rows',
    handler: async () => ({ data: (await pool.query(process.env.BARE_QUERY ?? 'select 1 as one')).rows }),
  },
])
await server.start()
console.log(server.info.uri)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit())
