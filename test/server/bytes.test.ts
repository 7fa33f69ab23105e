import t from 'tap'
import { formatBytes } from '../../server/bytes.ts'

t.test('bytes are shown in thousands, with one digit where there are few', async t => {
  t.strictSame([0, 999, 1_000, 9_633_792, 999_999, 123_456_789, 10_737_418_240, 5e15].map(formatBytes), [
    '0 bytes',
    '999 bytes',
    '1 kB',
    '9.6 MB',
    '1,000 kB',
    '123 MB',
    '10.7 GB',
    '5 PB',
  ])
})
