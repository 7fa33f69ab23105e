import { countOf } from '../lib/format.ts'

/** The sentences of the settings of teams and owners, in English. */
export const teamsTexts = {
  teams: 'Teams',
  count: (teams: number) => countOf(teams, 'team'),
  create: 'Create a team',
  none: 'There is no team',
  noneText:
    'A team owns sources, schemas, tables and tags. Its members own them too, and alert rules can be routed to it.',
  more: (count: number) => `The first ${count} teams by name are shown.`,
  members: 'Members',
  membersHint: 'One address in each line, of a user or of a person without an account.',
  noMembers: 'no members yet',
  others: (count: number) => `and ${count} more`,
  description: 'Description',
  nameHint: 'Such as Data Platform. Owners are written with it.',
  change: 'Change',
  changeOf: (name: string) => `Change ${name}`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  removeText:
    'It owns nothing from then on. An alert rule that names no other owner is switched off. Its members keep their accounts.',
  created: (name: string) => `${name} was created.`,
  changed: (name: string) => `${name} was changed.`,
  removed: (name: string) => `${name} was removed.`,
  actions: 'Actions',

  owners: 'Owners',
  ownersText:
    'The most specific object that has owners decides: a table, then its tags, its schema and its source.',
  noOwners: 'No owner is named yet.',
  set: 'Set owners',
  setText:
    'Replaces those that people set for the same object before. They go before what dbt, OpenLineage and comments say of it.',
  choices: {
    asset: 'A source or a table',
    schema: 'A schema of a source',
    tag: 'All that carries a tag',
  },
  asset: 'Name of the source or table',
  assetHint: 'Such as shop, or shop.db.public.orders.',
  source: 'Name of the source',
  schema: 'Schema',
  schemaHint: 'Such as public, or db.public.',
  tag: 'Tag',
  ownersHint:
    'One in each line: the address of a user, or the name of a team. Leave it empty to remove all owners.',
  saved: 'The owners were set.',
  owned: 'What is owned',
  owner: 'Owner',
  by: 'Named by',
  subjects: { source: 'source', schema: 'schema', table: 'table', tag: 'tag' },
  types: { user: 'user', team: 'team', email: 'address', name: 'not a user or team here' },
  origins: { manual: 'a person', dbt: 'dbt', openlineage: 'OpenLineage', comment: 'a comment' },
  removeOwnerOf: (owner: string, subject: string) => `Remove ${owner} from ${subject}`,
  ownerRemoved: (owner: string, subject: string) => `${owner} no longer owns ${subject}.`,
}
