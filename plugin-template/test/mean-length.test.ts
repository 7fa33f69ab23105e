import t from 'tap'
import { testCheck } from 'tidemark/check/conformance'
import { meanLength } from '../mean-length.ts'

t.test('mean_length conforms', t =>
  testCheck(t, {
    check: meanLength,
    cases: [
      {
        name: 'NULL is not counted, the empty text is',
        values: ['ab', '', null, 'abcd'],
        expect: { value: 2 },
      },
      { name: 'characters are counted, not bytes', values: ['é', '名前'], expect: { value: 1.5 } },
      { name: 'only NULL has no mean', values: [null], expect: { value: null } },
      {
        name: 'an unknown setting is refused',
        values: [],
        config: { least: 1 },
        expect: { refused: /least/ },
      },
    ],
  }),
)
