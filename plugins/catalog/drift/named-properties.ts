/** Shows the properties that are there, by the names that the API has for them, in the order of the names. */
export function nameProperties<Properties extends object>(
  properties: Properties,
  names: Readonly<Partial<Record<keyof Properties, string>>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([property, name]) => {
      const value: unknown = properties[property as keyof Properties]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
