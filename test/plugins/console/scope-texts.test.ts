import t from 'tap'
import { scopeTexts } from '../../../plugins/console/client/checks/scope-texts.ts'

t.test('the size of a bucket is said in words', async t => {
  const words = { '1h': 'an hour', '6h': 'every 6 hours', '1d': 'a day', '2w': 'every 2 weeks' }
  for (const [window, text] of Object.entries(words))
    t.equal(scopeTexts.bucketOf(window), `One bucket ${text} by`)
})

t.test('how many buckets are measured again is said, also where it is the default', async t => {
  t.equal(scopeTexts.revisit(null), 'the last 2 measured again')
  t.equal(scopeTexts.revisit(1), 'the last one measured again')
  t.equal(scopeTexts.revisit(0), 'none measured again')
})
