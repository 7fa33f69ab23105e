import {
  printResult,
  withCompany,
  withCompanyOption,
  type CommandContribution,
  type CommandOptions,
  type Terminal,
} from '../../server/cli/command.ts'
import { describeSettings } from '../../server/settings/config.ts'

interface BadgeCommandOptions extends CommandOptions {
  label?: string
  tag?: string[]
  drift?: true
  freshness?: true
}

export const badgeCommand: CommandContribution = {
  name: 'badge',
  define(command, terminal) {
    withCompanyOption(command.argument('<asset>'))
      .description('show the badge of a source or a table, by id or qualified name; creates it if missing')
      .option('--label <text>', 'the text on its left')
      .option('--tag <tag...>', 'only count tables that carry one of these tags')
      .option('--drift', 'schema changes that are not acknowledged make it fail')
      .option('--freshness', 'stale tables make it fail')
      .action((asset: string, options: BadgeCommandOptions) => showBadge(asset, options, terminal))
  },
}

function showBadge(asset: string, options: BadgeCommandOptions, terminal: Terminal): Promise<void> {
  return withCompany(terminal, options, async (server, company) => {
    const { badge, isNew } = await server.plugins.badges.ensureBadge(company.id, {
      asset_id: asset,
      label: options.label,
      tag_filters: options.tag,
      schema_drift_enabled: options.drift,
      freshness_enabled: options.freshness,
    })
    // The command knows its own settings only, not where the service listens.
    if (describeSettings().some(({ name, value }) => name === 'BASE_URL' && value === null))
      terminal.err(`BASE_URL is not set: the service may not listen at ${server.config.baseUrl}`)
    const title = `${isNew ? 'Created a badge' : 'The badge'}: ${badge.status}`
    printResult(terminal, options, badge, title, badge.badge_url, badge.markdown)
  })
}
