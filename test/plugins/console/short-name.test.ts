import t from 'tap'
import { shortenMiddle, shortNames } from '../../../plugins/console/client/parts/table/short-name.ts'

t.test('a name is as short as no other name of the list ends with', async t => {
  const shorten = (...names: string[]) => [...shortNames(names).values()]
  t.same(shorten('shop.main.public.orders', 'store.main.public.customers'), ['orders', 'customers'])
  t.same(shorten('shop.main.public.orders', 'shop.main.private.orders'), ['public.orders', 'private.orders'])
  t.same(shorten('shop.public.orders', 'store.public.orders'), ['shop.public.orders', 'store.public.orders'])
  t.same(shorten('shop.orders', 'orders'), ['shop.orders', 'orders'], 'a name that others end with is whole')
  t.same(shorten('shop.orders', 'shop.orders'), ['orders'], 'rows of one table do not count twice')
  t.same(shorten(), [])
})

t.test('a long name loses its middle, at whole characters', async t => {
  t.equal(shortenMiddle('orders', 6), 'orders')
  t.equal(shortenMiddle('orders_of_last_year', 9), 'orde…year')
  t.equal(shortenMiddle('😀😀😀😀😀', 4), '😀…😀😀')
})
