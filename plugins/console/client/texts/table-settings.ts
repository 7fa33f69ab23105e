/** The sentences of a table's settings, in English. */
export const settingsTexts = {
  description: 'Description',
  descriptionHint: 'What the table holds, and who knows it. Alerts show it.',
  cannotChange: 'Only members, admins and owners change tables.',
  tags: 'Tags of the table',
  tagsOfColumns: 'Tags of its columns',
  addTag: 'Add a tag',
  tag: 'Tag',
  tagHint: 'Such as finance or pii.email. The rows of columns that are tagged as personal data are hidden.',
  column: 'Column',
  wholeTable: 'The table itself',
  remove: (tag: string) => `Take off ${tag}`,
  automatic: 'by a discovery',
  noTags: 'It carries no tag.',
  owners: 'Owners',
  ownersField: 'Owners of this table',
  ownersHint:
    'Addresses, or names of teams. They go before what dbt, comments, the schema and the source say.',
  noOwners: 'No owner is named.',
  inheritedFrom: (type: string, name: string) => `from the ${type} ${name}`,
  ownerOrigins: { manual: 'set by hand', dbt: 'named by dbt', comment: 'named in its comment' } as Record<
    string,
    string
  >,
  names: 'For the API and for files',
  id: 'Id',
  qualifiedName: 'Qualified name',
}
