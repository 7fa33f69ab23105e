import t from 'tap'
import { makeDemoPost } from '../../../../plugins/alerts/delivery/demo-post.ts'

const message = { headers: { 'content-type': 'application/json' }, body: '{}' }

t.test('the receiver gets the message, whatever the address, and its answer is the outcome', async t => {
  const got: unknown[] = []
  const post = makeDemoPost(given => {
    got.push(given)
    return { statusCode: 200, body: 'Thanks. ' }
  })
  const outcome = await post('http://169.254.169.254/', message)
  t.strictSame(got, [message])
  t.match(outcome, {
    isDelivered: true,
    address: null,
    responseBody: /^Thanks\. Simulated: .*nothing was sent$/,
  })
})

t.test('a receiver that is down is a failed attempt', async t => {
  const post = makeDemoPost(() => ({ statusCode: 503, body: '' }))
  t.match(await post('https://demo.invalid/', message), {
    isDelivered: false,
    statusCode: 503,
    errorClass: 'status',
  })
})

t.test('without a receiver, every message counts as received', async t => {
  t.match(await makeDemoPost()('https://demo.invalid/', message), { isDelivered: true, statusCode: 200 })
})
