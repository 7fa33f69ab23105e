/** The sentences of the settings of teams and owners, in English. */
export const teamsTexts = {
  teams: 'Teams',
  create: 'Create a team',
  more: (count: number) => `The first ${count} teams by name are shown.`,
  members: 'Members',
  others: (count: number) => `and ${count} more`,
  changeOf: (name: string) => `Change ${name}`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  actions: 'Actions',

  owners: 'Owners',
  set: 'Set owners',
  choices: {
    asset: 'A source or a table',
    schema: 'A schema of a source',
    tag: 'All that carries a tag',
  },
  owned: 'What is owned',
  subjects: { source: 'source', schema: 'schema', table: 'table', tag: 'tag' },
  types: { user: 'user', team: 'team', email: 'address', name: 'not a user or team here' },
  origins: { manual: 'a person', dbt: 'dbt', openlineage: 'OpenLineage', comment: 'a comment' },
}
