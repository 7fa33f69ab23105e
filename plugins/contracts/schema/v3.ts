import { MINORS, type Edition, type Minor } from './editions.ts'
import {
  anything,
  each,
  list,
  number,
  oneOf,
  part,
  plain,
  closed,
  ID,
  open,
  text,
  type SchemaFields,
  type Schema,
} from './parts.ts'
import { property, schemaObject } from './properties.ts'
import { quality } from './quality.ts'
import { server } from './servers.ts'

export function v3(minor: Minor): Schema {
  const edition = editionOf(minor)
  const definitions = {
    ...sections(edition),
    role: role(edition),
    server: server(edition),
    object: schemaObject(edition),
    property: property(edition, false),
    item: property(edition, true),
    quality: quality(edition),
  }
  return { ...contract(edition), $defs: definitions }
}

function editionOf(minor: Minor): Edition {
  const isStrict = minor === 'v3.1.0'
  return {
    isStrict,
    since: other => MINORS.indexOf(minor) >= MINORS.indexOf(other),
    part: isStrict ? closed : open,
    id: isStrict ? { id: { type: 'string', pattern: ID } } : {},
  }
}

function contract(edition: Edition): Schema {
  const links: SchemaFields = edition.since('v3.0.1')
    ? { authoritativeDefinitions: part('authoritativeDefinitions') }
    : {}
  const own: SchemaFields = edition.since('v3.0.1') ? { customProperties: part('customProperties') } : {}
  const texts = each(['usage', 'purpose', 'limitations'], text)
  const description = { ...texts, ...links, ...own }
  const known: SchemaFields = {
    ...each(
      ['version', 'id', 'name', 'tenant', 'status', 'dataProduct', 'domain', 'slaDefaultElement'],
      text,
    ),
    kind: oneOf('DataContract'),
    apiVersion: oneOf(...MINORS.filter(minor => edition.since(minor))),
    tags: list(text),
    servers: list(part('server')),
    // Open even in the strict edition: it is text for people.
    description: open(description),
    schema: list(part('object')),
    support: list(part('support')),
    price: part('price'),
    team: part('team'),
    roles: list(part('role')),
    slaProperties: list(part('agreement')),
    ...links,
    customProperties: part('customProperties'),
    contractCreatedTs: { type: 'string', format: 'date-time' },
  }
  return closed(known, ['version', 'apiVersion', 'kind', 'id', 'status'])
}

function sections(edition: Edition): Record<string, Schema> {
  const { isStrict, id } = edition
  const described: SchemaFields = isStrict ? { description: text } : {}
  const customProperty = edition.part(
    { ...id, property: text, value: anything, ...described },
    isStrict ? ['property', 'value'] : [],
  )
  const link = edition.part({ ...id, url: text, type: text, ...described }, ['url', 'type'])
  const planned: SchemaFields = isStrict ? { description: text, schedule: text, scheduler: text } : {}
  const agreement = {
    property: text,
    value: plain,
    valueExt: plain,
    ...each(['unit', 'element', 'driver'], text),
  }
  return {
    customProperties: list(customProperty),
    authoritativeDefinitions: list(link),
    support: edition.part(
      {
        ...id,
        ...each(['channel', 'url', 'description', 'tool', 'scope', 'invitationUrl'], text),
        ...(isStrict && { customProperties: part('customProperties') }),
      },
      isStrict ? ['channel'] : ['channel', 'url'],
    ),
    price: edition.part({ ...id, priceAmount: number, priceCurrency: text, priceUnit: text }),
    team: team(edition),
    agreement: edition.part({ ...id, ...agreement, ...planned }, ['property', 'value']),
  }
}

function role(edition: Edition): Schema {
  const texts = ['role', 'description', 'access', 'firstLevelApprovers', 'secondLevelApprovers']
  const own: SchemaFields = edition.since('v3.0.1') ? { customProperties: part('customProperties') } : {}
  return edition.part({ ...edition.id, ...each(texts, text), ...own }, ['role'])
}

/** A list of people; from 3.1 on also an object with such a list. */
function team(edition: Edition): Schema {
  const day = { type: 'string', format: 'date' }
  const common: SchemaFields = {
    ...edition.id,
    ...(edition.isStrict && {
      tags: list(text),
      customProperties: part('customProperties'),
      authoritativeDefinitions: part('authoritativeDefinitions'),
    }),
  }
  const called: SchemaFields = edition.since('v3.0.2') ? { name: text, description: text } : {}
  const person = { ...each(['username', 'role', 'replacedByUsername'], text), dateIn: day, dateOut: day }
  const member = edition.part({ ...common, ...called, ...person }, edition.isStrict ? ['username'] : [])
  if (!edition.isStrict) return list(member)
  return {
    ...edition.part({ ...common, ...called, members: list(member) }),
    type: ['object', 'array'],
    items: member,
  }
}
