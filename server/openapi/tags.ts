/** A section of the API, as its feature describes it. */
export interface ApiTag {
  /** What people read in place of its name. */
  title: string
  description: string
  /** Which sections stand together. Groups are ordered by their first section. */
  group: 'Catalog' | 'Monitoring' | 'Notifications' | 'Accounts' | 'Service'
  /** Its place among all sections, in the order in which one gets to know them. */
  order: number
  /** The path of its documentation page. */
  page?: string
}

/** What features add to the description of the API beside their routes. */
export interface ApiParts {
  tags: Record<string, ApiTag>
  /**
   * What an object can be, which depends on what extensions add, by the name with which
   * `.meta({ openapi: { 'x-choices': name } })` asks for it. With `x-choices-by`, the field that tells them apart.
   */
  choices: Record<string, () => Record<string, unknown>[]>
  /** Requests that the service sends, as path items by their names. */
  webhooks: Record<string, object>
  /** The path of the documentation. */
  docsPath?: string
}

/** The sections of a document in their order, and their groups. */
export function describeTags(names: Iterable<string>, { tags }: ApiParts, baseUrl: string) {
  const known = [...names].map(name => ({ name, tag: tags[name] }))
  const sorted = known.sort((a, b) => placeOf(a) - placeOf(b))
  const groups = Map.groupBy(sorted, ({ tag }) => tag?.group)
  return {
    tags: sorted.map(({ name, tag }) => ({
      name,
      ...(tag && { 'x-displayName': tag.title, description: tag.description }),
      ...(tag?.page !== undefined && {
        externalDocs: { description: `Guide to ${tag.title}`, url: baseUrl + tag.page },
      }),
    })),
    'x-tagGroups': [...groups].map(([name = 'Other', members]) => ({
      name,
      tags: members.map(member => member.name),
    })),
  }
}

const placeOf = ({ tag }: { tag?: ApiTag }) => tag?.order ?? Infinity
