import { randomBytes } from 'node:crypto'
import { Argument, Option, type Command } from 'commander'
import {
  printResult,
  withCompany,
  withCompanyOption,
  withJsonOption,
  withServer,
  type CommandContribution,
  type CommandOptions,
  type Terminal,
} from '../../../server/cli/command.ts'
import { ROLES, type Role } from '../../../server/http/access.ts'
import { PLANS, type Plan } from '../../../server/settings/config.ts'

export const companiesCommand: CommandContribution = {
  name: 'companies',
  define(command, terminal) {
    command.description('create companies and change their plans')
    addCreateCompany(command.command('create <name>'), terminal)
    addChangePlan(command.command('plan <company>'), terminal)
  },
}

function addCreateCompany(command: Command, terminal: Terminal): void {
  withJsonOption(command)
    .description('create a company')
    .addOption(new Option('--plan <plan>', 'its plan').choices(PLANS))
    .action((name: string, options: CommandOptions & { plan?: Plan }) =>
      withServer(terminal, async server => {
        const company = await server.plugins.auth.createCompany({ name, plan: options.plan })
        const message = `Created the company ${company.name} (${company.id}), plan ${company.plan}`
        printResult(terminal, options, company, message)
      }),
    )
}

function addChangePlan(command: Command, terminal: Terminal): void {
  withJsonOption(command)
    .description("change a company's plan")
    .addArgument(new Argument('<plan>').choices(PLANS))
    .action((name: string, plan: Plan, options: CommandOptions) =>
      withServer(terminal, async server => {
        const company = await server.plugins.auth.setPlan(name, plan)
        printResult(
          terminal,
          options,
          company,
          `The company ${company.name} now has the plan ${company.plan}`,
        )
      }),
    )
}

interface CreateUserOptions extends CommandOptions {
  email: string
  password?: string
  fullName?: string
  role: Role
}

export const usersCommand: CommandContribution = {
  name: 'users',
  define(command, terminal) {
    withCompanyOption(command.description('users of a company').command('create'))
      .description('create a user')
      .requiredOption('--email <email>', 'the email address to sign in with')
      .option('--password <password>', 'at least 12 characters; without it one is generated and shown')
      .option('--full-name <name>', 'their full name')
      .addOption(new Option('--role <role>', 'what they may do').choices(ROLES).default('member'))
      .action((options: CreateUserOptions) => createUser(options, terminal))
  },
}

function createUser(options: CreateUserOptions, terminal: Terminal): Promise<void> {
  return withCompany(terminal, options, async (server, { id: companyId }) => {
    const { email, fullName, role } = options
    const password = options.password ?? randomBytes(15).toString('base64url')
    const user = await server.plugins.auth.createUser({ companyId, email, password, fullName, role })
    const isGenerated = options.password === undefined
    const result = { ...user, role, ...(isGenerated && { password }) }
    const shown = isGenerated ? `; the password, shown once: ${password}` : ''
    printResult(terminal, options, result, `Created the user ${user.email} (${role})${shown}`)
  })
}

export const prospectsCommand: CommandContribution = {
  name: 'prospects',
  define(command, terminal) {
    withJsonOption(command.description('people who may sign in by a link').command('create'))
      .description('create a sign-in token for one person, valid for 7 days; it is shown once')
      .requiredOption('--email <email>', 'their email address')
      .option(
        '--company <company>',
        'id or name of the company they join; without it a person who has no user gets a new company',
      )
      .action((options: CommandOptions & { email: string }) => createProspect(options, terminal))
  },
}

function createProspect(options: CommandOptions & { email: string }, terminal: Terminal): Promise<void> {
  return withServer(terminal, async server => {
    const { email, company } = options
    const prospect = await server.plugins.auth.createProspect({ email, company })
    const expiry = prospect.expires_at.toISOString()
    const existing = prospect.user_id === null ? '' : ', who has a user already'
    const message = `Created a token for ${prospect.email}${existing}, valid until ${expiry}, shown once:`
    printResult(terminal, options, prospect, message, prospect.token)
  })
}
