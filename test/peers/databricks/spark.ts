import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { makeDatabricks } from '../../../connectors/databricks/index.ts'
import type { ConnectOptions, Connector } from '../../../connectors/connector.ts'
import type { DatabricksConfig } from '../../../connectors/databricks/index.ts'
import { raw } from '../../../connectors/sql.ts'
import { certify } from '../../helpers/certificates.ts'
import { pythonWith } from '../python.ts'

interface Teardown {
  teardown(down: () => unknown): unknown
}

const PACKAGES = ['pyspark==4.0.1']
const HOST = 'peer.cloud.databricks.com'
const WAREHOUSE = '00000000000spark'
const TOKEN = 'dapi-peer-0123456789'
const STATEMENT_TIMEOUT_MS = 180_000

/** Spark SQL behind the Statement Execution API. */
export interface Spark {
  connector: Connector<DatabricksConfig>
  config: Record<string, unknown>
  options: ConnectOptions
  execute(text: string): Promise<unknown>
  running(): Promise<number>
}

/** Starts Spark on this machine, gone with the test. Needs Java 17 and PyPI. */
export async function startSpark(t: Teardown): Promise<Spark> {
  const python = await pythonWith(PACKAGES)
  const folder = await mkdtemp(join(tmpdir(), 'spark-peer-'))
  const pair = await certify('trusted', [HOST])
  const files = [join(folder, 'certificate.pem'), join(folder, 'key.pem')] as const
  await writeFile(files[0], pair.cert)
  await writeFile(files[1], pair.key, { mode: 0o600 })
  const script = join(import.meta.dirname, 'server.py')
  const child = spawn(python, [script, ...files, TOKEN, WAREHOUSE, folder], {
    cwd: folder,
    env: { ...process.env, SPARK_LOCAL_IP: '127.0.0.1', SPARK_LOCAL_DIRS: folder, PYTHONUNBUFFERED: '1' },
    stdio: ['ignore', 'pipe', process.env.PEER_LOG ? 'inherit' : 'ignore'],
  })
  t.teardown(async () => {
    // Spark's Java ends with the Python that started it.
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })
  const port = await readPort(child.stdout)
  const connector = makeDatabricks({ port })
  const config = {
    host: HOST,
    http_path: `/sql/1.0/warehouses/${WAREHOUSE}`,
    access_token: TOKEN,
  }
  const options: ConnectOptions = {
    egress: { address: async () => '127.0.0.1', file: async path => path, folder: async path => path },
    log: { debug: () => {}, warn: () => {} },
  }
  const { value } = connector.config.validate(config)
  const owner = await connector.connect(value as DatabricksConfig, options)
  t.teardown(() => owner.close())
  return {
    // Spark has no keys.
    connector: { ...connector, capabilities: { ...connector.capabilities, constraints: undefined } },
    config,
    options,
    execute: text => owner.query(raw(text), { timeoutMs: STATEMENT_TIMEOUT_MS }),
    running: () => count(port),
  }
}

async function readPort(output: NodeJS.ReadableStream): Promise<number> {
  for await (const line of createInterface({ input: output })) {
    const [, port] = /^port (\d+)$/.exec(line) ?? []
    if (port !== undefined) return Number(port)
  }
  throw new Error('Spark did not start: is there a Java 17? PEER_LOG=1 shows what it says.')
}

async function count(port: number): Promise<number> {
  const request = https.get({ host: '127.0.0.1', port, path: '/running', servername: HOST, agent: false })
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream]
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return Number(text)
}
