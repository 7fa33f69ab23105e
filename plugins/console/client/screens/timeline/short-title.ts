/** The title of an alert without its table, where that is named beside it: what is left is the column, or the value. */
export function shortTitle({
  title,
  qualified_name: path,
}: {
  title: string
  qualified_name: string
}): string {
  const name = path.split('.').at(-1)!
  const rest = title.slice(name.length)
  return title.startsWith(name) && /^(: |\.)/.test(rest) ? rest.replace(/^(: |\.)/, '') : title
}
