import { randomBytes } from 'node:crypto'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { ROLES, SCOPES, type Role, type Scope } from '../http/access.ts'
import { answer, CommandError, EXIT, json, ofCompany, withServer } from './command.ts'
import type { Ending, Options, Terminal } from './command.ts'
import { answerRequests, detect, INTERVALS, METRICS, type DetectOptions } from '../detect.ts'
import { checkGate } from '../check-gate.ts'
import { contractCommands } from '../contracts.ts'
import { ConfigError, describeSettings, PLANS, readConfig, type Plan } from '../settings/config.ts'
import { freshnessGate } from '../freshness-command.ts'
import { MAX_DATE } from '../http/input.ts'
import { dashboardCommand, jobCommands } from './jobs-commands.ts'
import { LineError } from './line-filter.ts'
import { makeLog } from '../telemetry/log.ts'
import { auditCommands, secretRotation } from './safety.ts'
import { withoutControls } from './terminal-text.ts'
import { version } from '../version.ts'

/** Errors whose message is a sentence for the operator. */
const SPOKEN = ['ConfigError', 'StartError', 'ExtensionError', 'LineError', 'CommandError']

/**
 * Runs the command line.
 * @param words what follows the program's name
 * @returns the exit code: 0 fine, 1 failed, 2 wrong usage or settings, 3 not found; of the commands that judge, 1 is
 *   the verdict, and 5 is what kept them from one
 */
export async function runCommand(words: readonly string[], terminal: Terminal): Promise<number> {
  const ending: Ending = { exit: EXIT.fine, unexpected: EXIT.failed }
  try {
    await program(terminal, ending).parseAsync(words, { from: 'user' })
    return ending.exit
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage
    const { message, stack } = error as Error
    const status = (error as { output?: { statusCode?: number } }).output?.statusCode
    const isOurs = SPOKEN.includes((error as Error).name) || (status !== undefined && status < 500)
    terminal.err(withoutControls(isOurs ? message : (stack ?? message)))
    if (error instanceof CommandError) return error.exit
    if (error instanceof ConfigError || error instanceof LineError || status === 400) return EXIT.usage
    return status === 404 ? EXIT.notFound : ending.unexpected
  }
}

function program(terminal: Terminal, ending: Ending): Command {
  const command = new Command('tidemark')
    .description('Data observability for databases and warehouses')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal.out(text.trimEnd()),
      writeErr: text => terminal.err(text.trimEnd()),
    })
    .showHelpAfterError('(add --help for what is allowed)')

  command
    .command('start')
    .description('serve until Ctrl-C; the settings are environment variables')
    .action(async () => {
      const config = readConfig()
      const { serve } = await import('../process/start.ts')
      await serve(config, makeLog(config), terminal.out, terminal.signal)
    })
  json(command.command('migrate').description('bring the database up to date, without serving')).action(
    (options: Options) =>
      withServer(terminal, async () =>
        answer(terminal, options, { migrated: true }, 'The database is up to date'),
      ),
  )
  const settings = command.command('settings').description('every setting, its value and its default')
  secretRotation(settings.command('rotate-secret'), terminal)
  json(settings).action((options: Options) => {
    const settings = describeSettings()
    const groups = Map.groupBy(settings, ({ group }) => group)
    const lines = [...groups].flatMap(([group, members]) => [
      '',
      group,
      ...members.flatMap(({ name, value, default: fallback, about }) => [
        `  ${name}=${value ?? fallback ?? ''}${value !== null ? '' : fallback === null ? '  (not set)' : '  (default)'}`,
        `      ${about}`,
      ]),
    ])
    answer(terminal, options, settings, ...lines.slice(1))
  })
  companies(command.command('companies').description('companies and their plans'), terminal)
  users(command.command('users').description('users of a company'), terminal)
  keys(command.command('keys').description('API keys of a company'), terminal)
  prospects(command.command('prospects').description('people who may sign in by a link'), terminal)
  badge(command.command('badge <asset>'), terminal)
  auditCommands(command.command('audit').description('the audit log of a company'), terminal)
  checkGate(command.command('check <asset>'), terminal, ending)
  jobCommands(command.command('jobs').description('the queues of jobs'), terminal)
  dashboardCommand(command.command('dashboard'), terminal)
  freshnessGate(command.command('freshness <asset>'), terminal, ending)
  contractCommands(command.command('contracts').description('data contracts'), terminal, ending)
  detection(command.command('detect'), terminal)
  return command
}

function companies(parent: Command, terminal: Terminal): void {
  const plans = PLANS.join(', ')
  json(
    parent
      .command('create <name>')
      .description('make a company')
      .addOption(new Option('--plan <plan>', 'its plan').choices(PLANS)),
  ).action((name: string, options: Options & { plan?: Plan }) =>
    withServer(terminal, async server => {
      const company = await server.plugins.auth.createCompany({ name, plan: options.plan })
      answer(
        terminal,
        options,
        company,
        `Made the company ${company.name} (${company.id}), plan ${company.plan}`,
      )
    }),
  )
  json(parent.command('plan <company> <plan>').description(`change a company's plan: ${plans}`)).action(
    (name: string, plan: string, options: Options) =>
      withServer(terminal, async server => {
        const company = await server.plugins.auth.setPlan(name, oneOf(PLANS, plan))
        answer(terminal, options, company, `The company ${company.name} has the plan ${company.plan} now`)
      }),
  )
}

function users(parent: Command, terminal: Terminal): void {
  ofCompany(parent.command('create').description('make a user'))
    .requiredOption('--email <email>', 'what they sign in with')
    .option('--password <password>', 'at least 12 characters; without it one is made and shown')
    .option('--full-name <name>', 'how they are called')
    .addOption(new Option('--role <role>', 'what they may do').choices(ROLES).default('member'))
    .action((options: Options & { email: string; password?: string; fullName?: string; role: Role }) =>
      withServer(terminal, async server => {
        const { id: companyId } = await server.plugins.auth.findCompany(options.company)
        const { email, fullName, role } = options
        const password = options.password ?? randomBytes(15).toString('base64url')
        const user = await server.plugins.auth.createUser({ companyId, email, password, fullName, role })
        const made = options.password === undefined ? { password } : {}
        const shown = options.password === undefined ? `; the password, shown once: ${password}` : ''
        answer(terminal, options, { ...user, role, ...made }, `Made the user ${user.email} (${role})${shown}`)
      }),
    )
}

function keys(parent: Command, terminal: Terminal): void {
  ofCompany(parent.command('create').description('make an API key; it is shown once'))
    .requiredOption('--name <name>', 'what it is for')
    .addOption(new Option('--scope <scope>', 'what it may do').choices(SCOPES).makeOptionMandatory())
    .option(
      '--expires-at <time>',
      'when it ends, such as 2030-01-31T00:00:00Z; never unless given',
      futureTime,
    )
    .action((options: Options & { name: string; scope: Scope; expiresAt?: Date }) =>
      withServer(terminal, async server => {
        const { id: companyId, name } = await server.plugins.auth.findCompany(options.company)
        const { scope, expiresAt } = options
        const { key, record } = await server.plugins.auth.createKey({
          companyId,
          name: options.name,
          scope,
          expiresAt,
        })
        answer(
          terminal,
          options,
          { ...record, key },
          `Made a key of scope ${scope} for ${name}, shown once:`,
          key,
        )
      }),
    )
  ofCompany(parent.command('list').description('the API keys, newest first')).action((options: Options) =>
    withServer(terminal, async server => {
      const { id: companyId } = await server.plugins.auth.findCompany(options.company)
      const records = await server.plugins.auth.listKeys(companyId)
      const lines = records.map(record => keyLine(record as KeyRecord))
      answer(
        terminal,
        options,
        records,
        ...(lines.length > 0 ? [KEY_HEAD, ...lines] : ['There are no keys yet']),
      )
    }),
  )
  ofCompany(parent.command('revoke <id>').description('end an API key for good')).action(
    (id: string, options: Options) =>
      withServer(terminal, async server => {
        const { id: companyId } = await server.plugins.auth.findCompany(options.company)
        const record = await server.plugins.auth.revokeKey(companyId, id)
        answer(terminal, options, record, `Revoked the key ${(record as KeyRecord).display_key}`)
      }),
  )
}

interface KeyRecord {
  id: string
  name: string
  scope: Scope
  display_key: string
  is_active: boolean
}

const KEY_HEAD = keyColumns('id', 'key', 'scope', 'state', 'name')

function keyLine({ id, display_key: key, scope, is_active: isActive, name }: KeyRecord): string {
  return keyColumns(id, key, scope, isActive ? 'active' : 'ended', name)
}

function keyColumns(id: string, key: string, scope: string, state: string, name: string): string {
  return `${id.padEnd(36)}  ${key.padEnd(19)}  ${scope.padEnd(10)}  ${state.padEnd(6)}  ${name}`
}

function prospects(parent: Command, terminal: Terminal): void {
  json(
    parent.command('create').description('make a token that signs somebody in for 7 days; it is shown once'),
  )
    .requiredOption('--email <email>', 'whose it is')
    .option(
      '--company <company>',
      'id or name of the one they join; without it they get one of their own, unless they have a user',
    )
    .action((options: Options & { email: string }) =>
      withServer(terminal, async server => {
        const { email, company } = options
        const made = await server.plugins.auth.createProspect({ email, company })
        const ends = made.expires_at.toISOString()
        const whom = made.user_id === null ? '' : ', who has a user already'
        answer(
          terminal,
          options,
          made,
          `Made a token for ${made.email}${whom}, good until ${ends}, shown once:`,
          made.token,
        )
      }),
    )
}

interface BadgeOptions extends Options {
  label?: string
  tag?: string[]
  drift?: true
  freshness?: true
}

function badge(command: Command, terminal: Terminal): void {
  ofCompany(command)
    .description('show a badge of a source or a table, by id or qualified name; made where there is none')
    .option('--label <text>', 'what stands on its left')
    .option('--tag <tag...>', 'only tables count that carry one of these')
    .option('--drift', 'schema changes that nobody has acknowledged make it fail')
    .option('--freshness', 'stale tables make it fail')
    .action((asset: string, { label, tag, drift, freshness, ...options }: BadgeOptions) =>
      withServer(terminal, async server => {
        const { id: companyId } = await server.plugins.auth.findCompany(options.company)
        const { badge, isNew } = await server.plugins.badges.ensureBadge(companyId, {
          asset_id: asset,
          label,
          tag_filters: tag,
          schema_drift_enabled: drift,
          freshness_enabled: freshness,
        })
        const what = isNew ? 'Made a badge' : 'The badge'
        // The command knows its own settings only, not where the service listens.
        if (describeSettings().some(({ name, value }) => name === 'BASE_URL' && value === null))
          terminal.err(`BASE_URL is not set: the service may not listen at ${server.config.baseUrl}`)
        answer(terminal, options, badge, `${what}: ${badge.status}`, badge.badge_url, badge.markdown)
      }),
    )
}

function detection(command: Command, terminal: Terminal): void {
  const streams = { input: process.stdin, output: process.stdout, notes: process.stderr }
  json(command)
    .description(
      'judge a series: reads {"timestamp", "value", "total"?} on each line of standard input, oldest first, and ' +
        'prints each with what was expected and whether it is an anomaly',
    )
    .addOption(
      new Option('--interval <interval>', 'how often values come').choices(INTERVALS).default('daily'),
    )
    .addOption(
      new Option('--sensitivity <z>', 'the score beyond which a value is an anomaly, 0.1 to 10')
        .argParser(numberFrom(0.1, 10))
        .default(3),
    )
    .option('--one-sided', 'only values that are too high are anomalies')
    .addOption(
      new Option('--warmup <points>', 'how many points to learn before the first verdict')
        .argParser(wholeNumber)
        .default(0),
    )
    .addOption(
      new Option(
        '--metric <type>',
        'what the values are; without it percentages, when they have a total',
      ).choices(METRICS),
    )
    .addOption(
      new Option('--requests', 'answer requests of the benchmark protocol instead').conflicts([
        ...['interval', 'sensitivity', 'oneSided', 'warmup', 'metric'],
      ]),
    )
    .action((options: DetectOptions & { requests?: true }) =>
      options.requests ? answerRequests(streams, terminal.signal) : detect(streams, options, terminal.signal),
    )
}

function oneOf<T extends string>(allowed: readonly T[], given: string): T {
  const found = allowed.find(value => value === given)
  if (found === undefined)
    throw new ConfigError(`${JSON.stringify(given)} is not one of ${allowed.join(', ')}`)
  return found
}

function numberFrom(least: number, most: number): (text: string) => number {
  return text => {
    const number = text.trim() === '' ? NaN : Number(text)
    if (!(number >= least && number <= most))
      throw new InvalidArgumentError(`Give a number from ${least} to ${most}.`)
    return number
  }
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number, 0 or more.')
  return Number(text)
}

function futureTime(text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Give a time such as 2030-01-31T00:00:00Z.')
  if (time <= new Date()) throw new InvalidArgumentError('Give a time in the future.')
  if (time > MAX_DATE) throw new InvalidArgumentError('Give a time before the year 10000.')
  return time
}
