/**
 * Holds the verdicts on data contracts to the schemas that the standard itself publishes, as packages of Python carry
 * them. It is no part of the tests, because it fetches packages:
 *
 *     npx tap --timeout=900 test/peers/contracts.peer.ts
 *
 * Of 2.2.2, 3.0.0 and 3.0.1 no package is known that carries their schema.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js'
import t from 'tap'
import { validateContract } from '../../plugins/contracts/validation.ts'
import { BROKEN, DOUBTFUL } from '../plugins/contracts/cases.ts'
import { full, minimal, mutations, type Contract } from '../plugins/contracts/corpus.ts'

const run = promisify(execFile)

/** Where each version's schema lies. */
const PACKAGE = 'datacontract-cli==1.2.8'
const FILES = {
  'v3.0.2': 'datacontract/schemas/odcs-3.0.2.schema.json',
  'v3.1.0': 'datacontract/schemas/odcs-3.1.0.schema.json',
} as const
type Version = keyof typeof FILES

/** One in so many changes of a full contract is compared: they differ little from each other. */
const EVERY = 5

/** Fetches the package without what it needs to run, and compiles its schemas; formats are warnings here. */
async function officials(): Promise<Record<Version, ValidateFunction>> {
  const folder = await mkdtemp(join(tmpdir(), 'contracts-'))
  await run('python3', ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, PACKAGE])
  const compile = async (version: Version) =>
    new Ajv2019({ strict: false, validateFormats: false }).compile(
      JSON.parse(await readFile(join(folder, FILES[version]), 'utf8')) as object,
    )
  return { 'v3.0.2': await compile('v3.0.2'), 'v3.1.0': await compile('v3.1.0') }
}

const found = await officials().catch((error: Error) => error)
const skip = found instanceof Error && `a package index that has ${PACKAGE} is needed: ${found.message}`
const official = found as Record<Version, ValidateFunction>

function compare(version: Version, contract: Contract): string | null {
  const expected = Boolean(official[version](contract) || official['v3.1.0'](contract))
  const { valid, errors } = validateContract({ value: contract, positionOf: () => null, doubts: [] })
  return valid === expected
    ? null
    : `the standard says ${expected}, and ours ${valid}: ${JSON.stringify(errors)}`
}

for (const version of ['v3.0.2', 'v3.1.0'] as const) {
  t.test(`verdicts on contracts of ${version} are those of the standard`, { skip }, t => {
    const differences: string[] = []
    const verdicts = { compared: 0, invalid: 0 }
    const look = (change: string, contract: Contract) => {
      // What else an apiVersion may be is decided otherwise.
      if (contract.apiVersion !== version) return
      verdicts.compared++
      if (!official[version](contract)) verdicts.invalid++
      const difference = compare(version, contract)
      if (difference) differences.push(`${change}: ${difference}`)
    }
    look('minimal', minimal(version))
    look('full', full(version))
    for (const [what, change] of [...BROKEN, ...DOUBTFUL]) look(what, { ...minimal(version), ...change })
    for (const { change, contract } of mutations(minimal(version))) look(change, contract)
    let n = 0
    for (const { change, contract } of mutations(full(version))) if (n++ % EVERY === 0) look(change, contract)
    t.strictSame(differences.slice(0, 20), [])
    t.comment(`${verdicts.compared} compared, ${verdicts.invalid} of them not valid by their own version`)
    t.ok(verdicts.invalid > 100)
    t.end()
  })
}
