import { BACKSLASH_ESCAPES, REPLACEMENTS, SYMBOLS, type Lexicon } from '../lexicon.ts'

/** Spark keeps the backslash of these two, for the patterns of LIKE. */
const escapes = { ...BACKSLASH_ESCAPES, '%': '\\%', _: '\\_' }

/** Databricks SQL (https://docs.databricks.com/aws/en/sql/language-manual/data-types/string-type, …/sql-ref-identifiers). */
export const databricksLexicon: Lexicon = {
  label: 'Databricks',
  texts: ['"', "'"].flatMap(quote => [
    { open: `r${quote}`, close: quote },
    // There 'it''s' is two texts in a row, which are joined; as elsewhere it is one with a quote.
    { open: quote, close: quote, allowsDoubledClose: true as const, escapes },
  ]),
  names: [{ open: '`', close: '`', allowsDoubledClose: true }],
  // https://spark.apache.org/docs/latest/configuration.html, spark.sql.variable.substitute
  substitution: '${',
  lineComments: ['--'],
  // https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-comment
  nestsComments: true,
  symbols: [
    '<=>',
    '<<',
    '>>',
    '::',
    '||',
    '==',
    '->',
    '=>',
    '|>',
    ...SYMBOLS,
    '&',
    '|',
    '^',
    '~',
    '!',
    '[',
    ']',
  ],
  operators: { regexp: '~', rlike: '~', div: '/', '==': '=' },
  clauses: ['interval'],
  replacements: {
    ...REPLACEMENTS,
    ':': "get_json_object(a, '$.b') for a:b",
    '|>': 'a sub-query',
    semi: 'exists (select 1 from b where …)',
    anti: 'not exists (select 1 from b where …)',
  },
}
