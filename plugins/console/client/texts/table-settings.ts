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
  names: 'For the API and for files',
  id: 'Id',
  qualifiedName: 'Qualified name',
}
