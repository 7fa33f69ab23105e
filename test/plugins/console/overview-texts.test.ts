import t from 'tap'
import { overviewTexts as texts } from '../../../plugins/console/client/screens/overview/texts.ts'

t.test('one watched day makes no score', async t => {
  t.equal(texts.scoreOf(null, [null, null]), '–')
  t.equal(texts.scoreOf(0, [null, 0]), 'one day so far')
  t.equal(texts.scoreOf(0, [0, 0]), '0 %')
  t.equal(texts.scoreOf(98.5, [100, null, 97]), '98.5 %')
})
