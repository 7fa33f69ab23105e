import t from 'tap'
import { testCheck } from 'tidemark/check/conformance'
import { blankCount } from '../blank-count.ts'

t.test('blank_count conforms', t =>
  testCheck(t, {
    check: blankCount,
    cases: [
      {
        name: 'an empty text and spaces are counted, NULL is not',
        values: ['ab', '', '  ', null],
        expect: { value: 2 },
      },
      { name: 'spaces in a text are part of it', values: ['a b', ' a'], expect: { value: 0 } },
      { name: 'only NULL has no text', values: [null], expect: { value: 0 } },
      {
        name: 'an unknown setting is refused',
        values: [],
        config: { least: 1 },
        expect: { refused: /least/ },
      },
    ],
  }),
)
