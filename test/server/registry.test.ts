import Joi from 'joi'
import t from 'tap'
import { Registry } from '../../server/registry.ts'

interface Shape {
  name: string
  corners: number
}

const shape = Joi.object({ name: Joi.string().required(), corners: Joi.number().min(3).required() })
const square: Shape = { name: 'square', corners: 4 }
const triangle: Shape = { name: 'triangle', corners: 3 }

function shapes(): Registry<Shape> {
  const registry = new Registry<Shape>('shape', shape)
  registry.add(square, triangle)
  return registry
}

t.test('what was added is found by name and listed in both orders', async t => {
  const registry = new Registry<Shape>('shape')
  registry.add(triangle, square)
  t.equal(registry.get('square'), square)
  t.ok(registry.has('triangle'))
  t.notOk(registry.has('circle'))
  t.strictSame(registry.names(), ['square', 'triangle'])
  t.strictSame(registry.all(), [triangle, square])
})

t.test('a duplicate is refused by name and leaves the first', async t => {
  const registry = shapes()
  t.throws(() => registry.add({ name: 'square', corners: 5 }), {
    message: 'Cannot add shape "square": the name is taken',
  })
  t.equal(registry.get('square'), square)
})

t.test('a miss names what is known', async t => {
  t.throws(() => shapes().get('circle'), { message: 'Unknown shape "circle"; known are square, triangle' })
  t.throws(() => shapes().get('constructor'), { message: /^Unknown shape "constructor"/ })
})

t.test('a malformed item is refused with what is wrong, and nothing is converted for it', async t => {
  const registry = shapes()
  const malformed: [unknown, RegExp][] = [
    [{ name: 'line', corners: 2 }, /^Cannot add shape "line": "corners" must be greater than or equal to 3$/],
    [{ name: 'line' }, /^Cannot add shape "line": "corners" is required$/],
    [{ name: 'line', corners: '4' }, /^Cannot add shape "line": "corners" must be a number$/],
    [{ corners: 4 }, /^Cannot add shape undefined: "name" is required$/],
    ['line', /^Cannot add shape undefined: "value" must be of type object$/],
  ]
  for (const [item, message] of malformed) t.throws(() => registry.add(item as Shape), { message })
  t.strictSame(registry.names(), ['square', 'triangle'])
  registry.add({ name: 'star', corners: 10, colour: 'red' } as Shape)
  t.match(registry.get('star'), { colour: 'red' }, 'what the shape does not name is let through')
})

t.test('everything that is wrong is said at once, and nothing of it is added', async t => {
  const registry = shapes()
  t.throws(
    () =>
      registry.add(
        { name: 'star', corners: 10 },
        { name: '', corners: 2 },
        { name: 'square', corners: 4 },
        { name: 'star', corners: 5 },
      ),
    {
      message: [
        'Cannot add shape "": "name" is not allowed to be empty, "corners" must be greater than or equal to 3',
        'Cannot add shape "square": the name is taken',
        'Cannot add shape "star": the name is taken',
      ].join('; '),
    },
  )
  t.strictSame(registry.names(), ['square', 'triangle'])
})

t.test('a closed registry takes nothing more and still answers', async t => {
  const registry = shapes()
  registry.close()
  t.throws(() => registry.add({ name: 'star', corners: 10 }), {
    message: 'Cannot add shape "star": the server has started',
  })
  t.equal(registry.get('square'), square)
  t.strictSame(registry.names(), ['square', 'triangle'])
})
