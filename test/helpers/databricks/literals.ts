/** A text as Databricks SQL writes it: a doubled quote would end one text and begin the next. */
export function textLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** A statement that doubles quotes inside texts, as the kit writes them, in Databricks SQL. */
export function withEscapedQuotes(text: string): string {
  return text.replaceAll(/'(?:[^']|'')*'/g, found => textLiteral(found.slice(1, -1).replaceAll("''", "'")))
}
