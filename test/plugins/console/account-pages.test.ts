import t from 'tap'
import { startServer } from '../../helpers/server.ts'

/** What the script of the console reads from its page. */
const settingsIn = (page: string) =>
  JSON.parse(
    (/<meta name="tidemark" content="([^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&quot;', '"'),
  ) as object

t.test('the page says whether registration is open, and whether mail is sent', async t => {
  const open = await startServer(t, { settings: { SMTP_URL: 'smtp://127.0.0.1:9?tls=off' } })
  const { body } = await open.ask('GET', '/')
  t.match(settingsIn(body), { canRegister: true, hasMail: true })
  const closed = await startServer(t, { settings: { REGISTRATION_ENABLED: 'false' } })
  t.match(settingsIn((await closed.ask('GET', '/register')).body), { canRegister: true, hasMail: false })
  await closed.signUp()
  for (const path of ['/', '/register'])
    t.match(settingsIn((await closed.ask('GET', path)).body), { canRegister: false }, path)
})
