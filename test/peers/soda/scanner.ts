/** Soda Core in a process of its own, which is started once: a scan's time holds neither Python's start nor imports. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestCluster } from '../../helpers/cluster.ts'
import { pythonWith } from '../python.ts'

export const SODA_PACKAGE = 'soda-core-postgres==3.5.6'
export const SODA_4_PACKAGE = 'soda-postgres==4.28.0'

interface Teardown {
  teardown(down: () => unknown): unknown
}

export interface SodaScan {
  /** From the execution of parsed checks to their results, the connection included. */
  milliseconds: number
  /** Values by the names of the checks. */
  values: Record<string, number | null>
  /** pass, warn or fail, by the names of the checks; null of one without a value. */
  outcomes: Record<string, string | null>
}

/** Runs checks, a file of them as text. Throws when Soda reports an error. */
export type RunSoda = (checks: string) => Promise<SodaScan>

/** Starts Soda Core 3 with telemetry off and a database to scan; checks are of SodaCL. */
export async function startSoda(t: Teardown, cluster: TestCluster, database: string): Promise<RunSoda> {
  const { host, port, user, password } = cluster
  const source = { type: 'postgres', host, port: String(port), username: user, password, database }
  return startScanner(t, {
    ...{ package: SODA_PACKAGE, script: 'scan.py' },
    configuration: { 'data_source shop': { ...source, schema: 'public' } },
  })
}

/** Starts Soda Core 4 with telemetry off and a database; checks are a contract of it. */
export async function startSodaContracts(
  t: Teardown,
  cluster: TestCluster,
  database: string,
): Promise<RunSoda> {
  const { host, port, user, password } = cluster
  return startScanner(t, {
    ...{ package: SODA_4_PACKAGE, script: 'verify.py' },
    configuration: { type: 'postgres', name: 'shop', connection: { host, port, user, password, database } },
  })
}

async function startScanner(
  t: Teardown,
  { package: name, script, configuration }: { package: string; script: string; configuration: object },
): Promise<RunSoda> {
  const python = await pythonWith([name])
  const home = await mkdtemp(join(tmpdir(), 'soda-'))
  await mkdir(join(home, '.soda'))
  await writeFile(join(home, '.soda/config.yml'), 'send_anonymous_usage_stats: false\n')
  const child = spawn(python, ['-W', 'ignore', join(import.meta.dirname, script)], {
    env: {
      ...{ PATH: process.env.PATH, HOME: home, PYTHONDONTWRITEBYTECODE: '1' },
      ...{ OTEL_SDK_DISABLED: 'true', SODA_CORE_TELEMETRY_ENABLED: 'false' },
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const errors: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  const waiting: PromiseWithResolvers<SodaScan & { errors: string }>[] = []
  createInterface({ input: child.stdout }).on('line', line =>
    waiting.shift()?.resolve(JSON.parse(line) as SodaScan & { errors: string }),
  )
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  void ended.then(() => {
    for (const { reject } of waiting.splice(0))
      reject(new Error(`Soda ended: ${errors.join('').slice(-2_000)}`))
  })
  t.teardown(async () => {
    child.stdin.end()
    await ended
    await rm(home, { recursive: true, force: true })
  })
  return async checks => {
    const answer = Promise.withResolvers<SodaScan & { errors: string }>()
    waiting.push(answer)
    // YAML reads JSON.
    child.stdin.write(`${JSON.stringify({ configuration: JSON.stringify(configuration), checks })}\n`)
    const { errors: found, ...scan } = await answer.promise
    if (found) throw new Error(`Soda reports: ${found}`)
    return scan
  }
}
