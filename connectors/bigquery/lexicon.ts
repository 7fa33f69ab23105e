import { CAST_REPLACEMENT, BACKSLASH_ESCAPES, REPLACEMENTS, SYMBOLS, type Lexicon } from '../lexicon.ts'

const escapes = { ...BACKSLASH_ESCAPES, '`': '`', '?': '?' }

/** GoogleSQL (https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical). */
export const bigqueryLexicon: Lexicon = {
  label: 'BigQuery',
  texts: [
    ...['"""', "'''"].flatMap(quote => [
      { open: `r${quote}`, close: quote },
      { open: quote, close: quote, escapes },
    ]),
    ...['"', "'"].flatMap(quote => [
      { open: `r${quote}`, close: quote },
      // Two texts in a row are an error there, so that two quotes can be one, as elsewhere.
      { open: quote, close: quote, allowsDoubledClose: true as const, escapes },
    ]),
  ],
  names: [{ open: '`', close: '`', escapes }],
  lineComments: ['--', '#'],
  namesHoldDashes: true,
  quotedNamesHoldDots: true,
  symbols: ['::', '||', '<<', '>>', '=>', '|>', '->', ...SYMBOLS, '&', '|', '^', '~', '[', ']'],
  operators: {},
  clauses: ['interval'],
  replacements: {
    ...REPLACEMENTS,
    ...CAST_REPLACEMENT,
    '|>': 'a sub-query',
    unnest: 'exists (select 1 from unnest(a) x where …) or a join',
    except: 'the names of the columns',
  },
}
