import t from 'tap'
import { replyText } from '../../../server/openapi/reply-texts.ts'

t.test('a reply is described by the name of its record', t => {
  const cases: [label: string | undefined, method: string, status: string, text: string | undefined][] = [
    ['AlertPageData', 'get', '200', 'A page of alerts'],
    ['ValidityRuleItems', 'get', '200', 'A page of validity rules'],
    ['ApiKeyListData', 'get', '200', 'The API keys'],
    ['BadgeData', 'get', '200', 'The badge'],
    ['AlertRuleData', 'post', '201', 'The alert rule, as stored'],
    ['AlertRuleData', 'patch', '200', 'The alert rule, as stored'],
    ['CreatedMetricData', 'post', '201', 'The created metric'],
    ['RemovalData', 'delete', '200', 'That it was removed'],
    [undefined, 'post', '204', 'Done; the reply has no body'],
    ['the body', 'get', '200', undefined],
    [undefined, 'get', '200', undefined],
  ]
  for (const [label, method, status, text] of cases)
    t.equal(replyText(label, { method, status }), text, `${status} ${label}`)
  t.equal(replyText(undefined, { method: 'get', status: '200', contentType: 'text/html' }), 'A page in HTML')
  t.end()
})
