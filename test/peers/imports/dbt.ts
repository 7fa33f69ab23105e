/** dbt in a project of its own, with the tests of one source. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { TestCluster } from '../../helpers/cluster.ts'
import { pythonWith } from '../python.ts'

/**
 * From 1.12.1 on dbt needs releases of its experimental parser that a package index has as downloads from elsewhere only;
 * nothing uses it here.
 */
export const DBT_PACKAGES = [
  'dbt-core==1.12.0',
  'dbt-core-experimental-parser==2.0.0a4',
  'dbt-postgres==1.11.0',
]
export const DBT_REPLACED = ['dbt-core==1.12.6']
const run = promisify(execFile)

interface Teardown {
  teardown(down: () => unknown): unknown
}

/** Runs all tests of the file. @returns the status of each by its name: pass, warn, fail or error */
export type RunDbt = () => Promise<Map<string, string>>

/** The files of every project, by their paths, as objects: YAML reads JSON. */
export function projectFiles({ host, port, user, password }: TestCluster, database: string) {
  const output = {
    ...{ type: 'postgres', host, port, user, password, dbname: database, schema: 'public', threads: 2 },
  }
  return {
    'dbt_project.yml': { name: 'shop', version: '1.0.0', profile: 'shop', 'model-paths': ['models'] },
    'profiles.yml': { shop: { target: 'test', outputs: { test: output } } },
  }
}

/** @param properties the properties file, as text; YAML reads JSON */
export async function makeDbtProject(
  t: Teardown,
  cluster: TestCluster,
  database: string,
  properties: string,
): Promise<RunDbt> {
  const python = await pythonWith(DBT_PACKAGES, DBT_REPLACED)
  const home = await mkdtemp(join(tmpdir(), 'dbt-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, 'models'))
  const files = {
    ...projectFiles(cluster, database),
  }
  for (const [name, content] of Object.entries(files))
    await writeFile(join(home, name), JSON.stringify(content))
  await writeFile(join(home, 'models/schema.yml'), properties)
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false', DO_NOT_TRACK: '1' },
    DBT_PROFILES_DIR: home,
  }
  return async () => {
    const ran = await run(join(dirname(python), 'dbt'), ['test', '--no-version-check'], {
      cwd: home,
      env,
    }).catch(
      // Failing tests end it with 1.
      (error: { stdout?: string; code?: number }) => error,
    )
    const text = await readFile(join(home, 'target/run_results.json'), 'utf8').catch(() => {
      throw new Error(`dbt has no results: ${String((ran as { stdout?: string }).stdout).slice(-2_000)}`)
    })
    const { results } = JSON.parse(text) as { results: { unique_id: string; status: string }[] }
    await rm(join(home, 'target/run_results.json'))
    return new Map(results.map(({ unique_id: id, status }) => [id.split('.')[2] ?? id, status]))
  }
}
