/** What becomes of a module of the console in a clone, before a browser loads it. */
import t from 'tap'
import { compile } from '../../../plugins/console/compile.ts'

t.test('types and elements become JavaScript, and imports stay as they are written', async t => {
  const modules = await compile(
    new Map([
      [
        'client/a.tsx',
        `import { b, type B } from './b.ts'\nexport const A = (p: B) => <p class="a">{b(p)}</p>`,
      ],
      [
        'client/b.ts',
        `import './c.ts'\nexport interface B { n: number }\nexport const b = (p: B) => <number>p.n`,
      ],
    ]),
  )
  const a = modules.get('client/a.tsx')!
  t.match(a, 'from "./b.ts"')
  t.match(a, 'from "preact/jsx-runtime"')
  t.notMatch(a, /<p|: B|type B/)
  const b = modules.get('client/b.ts')!
  t.match(b, 'import "./c.ts"', 'also one that gives no name')
  t.notMatch(b, /interface|<number>|jsx-runtime/)
})

t.test('an error names the file and the line', async t => {
  await t.rejects(compile(new Map([['client/a.tsx', '\nconst a = <p>']])), { message: /client\/a\.tsx:2/ })
})
