import t from 'tap'
import { judgeTableHealth, type JudgedFields } from '../../../../plugins/catalog/assets/table-health.ts'

const KEYED = {
  kind: 'table' as const,
  constraints: [{ type: 'primary_key' as const, name: 'k', columns: ['id'] }],
}
const KEYLESS = { kind: 'table' as const, constraints: [] }
const quality = (passing: number, more: Partial<JudgedFields['quality']> = {}) => ({
  ...{ passing, learning: 0, failing: 0, error: 0, pending: 0 },
  ...more,
})
const FRESH = { status: 'fresh' as const, learning: null }
const WATCHED = { freshness: 'passing' as const, volume: 'passing' as const, uniques: {} }

t.test('a table is fine only where freshness, volume and keys are watched and pass', async t => {
  const all = { quality: quality(7), freshness: FRESH, watched: WATCHED }
  t.same(judgeTableHealth(KEYLESS, all, false), {
    status: 'fine',
    headline: '7 checks pass',
    watched: { freshness: 'passing', volume: 'passing', keys: null },
  })
  t.match(judgeTableHealth(KEYED, all, true), { status: 'fine', watched: { keys: 'enforced' } })
  t.match(judgeTableHealth(KEYED, all, false), {
    status: 'unknown',
    headline: '7 checks pass; keys are not watched',
  })
  t.match(
    judgeTableHealth(KEYLESS, { ...all, quality: quality(6, { learning: 1 }) }, false),
    { status: 'unknown', headline: '6 pass, 1 learning' },
    'a check that learns has judged nothing',
  )
  const checked = { ...all, watched: { ...WATCHED, uniques: { id: 'passing' as const } } }
  t.match(judgeTableHealth(KEYED, checked, false), { status: 'fine', watched: { keys: 'passing' } })
  t.match(
    judgeTableHealth({ ...KEYED, kind: 'view' }, all, true),
    { status: 'unknown' },
    'no engine keeps keys of views',
  )
})

t.test('the headline says what is not watched, and what is not known yet', async t => {
  const headline = (fields: JudgedFields) => judgeTableHealth(KEYLESS, fields, false).headline
  t.equal(
    headline({ quality: quality(7), watched: { ...WATCHED, freshness: null } }),
    '7 checks pass; freshness is not watched',
  )
  t.equal(
    headline({ quality: quality(3, { pending: 6 }), freshness: FRESH, watched: WATCHED }),
    '3 pass, 6 not yet run',
  )
  t.equal(headline({}), 'no check watches it; freshness and volume are not watched')
  t.equal(
    headline({
      quality: quality(1, { learning: 1 }),
      freshness: { status: 'unknown', learning: { seen: 3, needed: 7 } },
      watched: { ...WATCHED, freshness: 'pending', volume: 'learning' },
    }),
    '1 pass, 1 learning; freshness is learning, 3 of 7 updates',
  )
})

t.test('a failure counts more than what is not known, and a verdict that has lapsed is none', async t => {
  const failing = {
    quality: quality(2, { failing: 1, pending: 1 }),
    watched: { ...WATCHED, freshness: null },
  }
  t.match(judgeTableHealth(KEYLESS, failing, false), {
    status: 'failing',
    headline: '1 fail, 2 pass, 1 not yet run; freshness is not watched',
  })
  const stale = {
    quality: quality(2),
    freshness: { status: 'stale' as const, learning: null },
    watched: { ...WATCHED, freshness: 'failing' as const },
  }
  t.match(judgeTableHealth(KEYLESS, stale, false), {
    status: 'failing',
    headline: '2 checks pass; its data is stale',
  })
  const paused = {
    quality: quality(2),
    freshness: { status: 'unknown' as const, learning: null },
    watched: WATCHED,
  }
  t.match(judgeTableHealth(KEYLESS, paused, false), {
    status: 'unknown',
    headline: '2 checks pass; its freshness is not known yet',
  })
})
