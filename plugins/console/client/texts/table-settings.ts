/** The sentences of a table's settings, in English. */
export const settingsTexts = {
  tags: 'Tags of the table',
  remove: (tag: string) => `Take off ${tag}`,
  owners: 'Owners',
  inheritedFrom: (type: string, name: string) => `from the ${type} ${name}`,
  ownerOrigins: {
    manual: 'set by hand',
    dbt: 'named by dbt',
    openlineage: 'named by OpenLineage',
    comment: 'named in its comment',
  },
}
